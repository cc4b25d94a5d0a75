from typing_extensions import CapsuleType

TYPES: dict[str, str]

class Field:
    name: str
    format: str
    nullable: bool
    children: tuple[Field, ...]
    def __init__(
        self, name: str, format: str, nullable: bool = False, children: tuple[Field, ...] = ()
    ) -> None: ...
    @property
    def type(self) -> str: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
