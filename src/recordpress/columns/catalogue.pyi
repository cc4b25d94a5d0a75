NAMES: tuple[str, ...]
FORMATS: tuple[str | None, ...]
DEFAULT: tuple[str, ...]
