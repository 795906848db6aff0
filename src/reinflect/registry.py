"""Named things of one kind, such as systems: ours, and those that other installed packages bring.

Another package brings one by a Python entry point in the group `reinflect.systems`, `reinflect.aligners`,
`reinflect.strategies` or `reinflect.augmentations`. Every process that has the package installed knows it. Nothing is
imported before it is asked for.
"""

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import chain
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from reinflect.errors import InputError, quoted
from reinflect.text import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def later(place: str) -> Any:
    """The function at a place such as `reinflect.systems.haem.model:losses`, which is imported when it is called."""
    load = cache(lambda: resolve_name(place))
    return lambda *arguments: load()(*arguments)


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: ours in our order, then those of other packages by the alphabet."""

    def __init__(self, kind: str, ours: Mapping[str, T | str]) -> None:
        """`ours` are things by name, or places such as `reinflect.systems.hacm:SYSTEM` where they are loaded from."""
        self.kind = kind
        self.group = f"reinflect.{'strategies' if kind == 'strategy' else f'{kind}s'}"
        self._ours = ours
        self._loaded: dict[str, T] = {name: thing for name, thing in ours.items() if not isinstance(thing, str)}

    @cached_property
    def _others(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # looking for packages takes longer than inflecting a word

        others: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self.group), key=lambda entry: entry.name):
            if entry.name not in self._ours:  # no other package can replace one of ours
                others.setdefault(entry.name, entry)
        return others

    def __iter__(self) -> Iterator[str]:
        return chain(self._ours, self._others)

    def __len__(self) -> int:
        return len(self._ours) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._others

    def __getitem__(self, name: str) -> T:
        if name in self._ours and name not in self._loaded:
            self._loaded[name] = resolve_name(str(self._ours[name]))
        elif name not in self._loaded:
            entry = self._others[name]
            try:
                self._loaded[name] = entry.load()
            except Exception as error:
                package = entry.dist.name if entry.dist else entry.value
                finding = f"the {self.kind} {quoted(name)} of the package {package} could not be loaded ({error})"
                raise InputError(finding, "update or uninstall that package") from None
        return self._loaded[name]

    def find(self, name: str) -> T:
        """The thing of that name; an unknown name is the user's error."""
        self.check(name)
        return self[name]

    def package(self, name: str) -> str:
        """The package that brings a thing; empty for ours."""
        entry = None if name in self._ours else self._others.get(name)
        return entry.dist.name if entry and entry.dist else ""

    def check(self, name: str) -> None:
        if name not in self:
            names = f"{self.group.rpartition('.')[2]}: {', '.join(self)}"
            raise InputError(f"there is no {self.kind} {quoted(name)}", nearest(name, self, names))
