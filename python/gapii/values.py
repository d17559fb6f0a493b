"""Values of arguments that are more than a number. Each is an `int`, so it compares and computes as one."""

from typing import Optional, Sequence, Tuple


class Enum(int):
    """A value of an enum, with its name."""

    name: Optional[str]
    """Name as the API spells it, such as "GL_TRIANGLES"; None for a value without a name."""

    def __new__(cls, value: int, name: Optional[str] = None) -> "Enum":
        made = super().__new__(cls, value)
        made.name = name
        return made

    def __getnewargs__(self) -> Tuple[int, Optional[str]]:  # type: ignore[override]
        return int(self), self.name

    def __str__(self) -> str:
        return self.name or hex(self)

    def __repr__(self) -> str:
        return str(self)

    def __format__(self, form: str) -> str:
        return format(int(self) if form else str(self), form)


class Flags(int):
    """Bits of a bitfield, with their names."""

    names: Tuple[str, ...]
    """Names of the bits, lowest bit first; a name of the whole value stands alone."""
    rest: int
    """The bits without a name."""

    def __new__(cls, value: int, names: Sequence[str] = (), rest: int = 0) -> "Flags":
        made = super().__new__(cls, value)
        made.names = tuple(names)
        made.rest = rest
        return made

    def __getnewargs__(self) -> Tuple[int, Tuple[str, ...], int]:  # type: ignore[override]
        return int(self), self.names, self.rest

    def __str__(self) -> str:
        rest = [hex(self.rest)] if self.rest else []
        return "|".join([*self.names, *rest]) or "0"

    def __repr__(self) -> str:
        return str(self)

    def __format__(self, form: str) -> str:
        return format(int(self) if form else str(self), form)


class Pointer(int):
    """An address in the program."""

    def __str__(self) -> str:
        return hex(self)

    def __repr__(self) -> str:
        return str(self)

    def __format__(self, form: str) -> str:
        return format(int(self) if form else str(self), form)
