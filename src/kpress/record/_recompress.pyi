from collections.abc import Buffer  # type: ignore[attr-defined]
