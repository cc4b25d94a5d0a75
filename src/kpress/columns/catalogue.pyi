NAMES: tuple[str, ...]
DEFAULT: tuple[str, ...]
