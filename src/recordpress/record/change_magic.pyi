LOST: dict[str, str]
