"""Named things of one kind, such as systems: ours, and those of other installed packages.

Another package names its own by Python entry points in the groups `reinflect.systems`, `reinflect.aligners`,
`reinflect.strategies` and `reinflect.augmentations`. Each is imported when it is first used.
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


def later(name: str) -> Any:
    """The function of a name such as `reinflect.systems.haem.model:losses`, which is imported when it is called."""
    load = cache(lambda: resolve_name(name))
    return lambda *arguments: load()(*arguments)


class Registry(Mapping[str, T], Generic[T]):
    """Things by name: ours in our order, then those of other packages by the alphabet."""

    def __init__(self, kind: str, ours: Mapping[str, T | str]) -> None:
        """`ours` are things by name, or names such as `reinflect.systems.hacm:SYSTEM`, which are imported."""
        self.kind = kind
        self.group = f"reinflect.{'strategies' if kind == 'strategy' else f'{kind}s'}"
        self._ours = ours
        self._loaded: dict[str, T] = {}

    @cached_property
    def _others(self) -> "dict[str, EntryPoint]":
        from importlib.metadata import entry_points  # looking for packages takes longer than inflecting a word

        entries = sorted(entry_points(group=self.group))
        return {entry.name: entry for entry in entries if entry.name not in self._ours}  # nothing replaces ours

    def __iter__(self) -> Iterator[str]:
        return chain(self._ours, self._others)

    def __len__(self) -> int:
        return len(self._ours) + len(self._others)

    def __contains__(self, name: object) -> bool:
        return name in self._ours or name in self._others

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            ours = self._ours.get(name)
            thing = self._from_another_package(name) if ours is None else ours
            self._loaded[name] = resolve_name(thing) if isinstance(thing, str) else thing
        return self._loaded[name]

    def _from_another_package(self, name: str) -> T:
        entry = self._others[name]
        try:
            return entry.load()  # type: ignore[no-any-return]
        except Exception as error:
            finding = (
                f"the {self.kind} {quoted(name)} of the package {self.package(name)} could not be loaded ({error})"
            )
            raise InputError(finding, "update or uninstall that package") from None

    def package(self, name: str) -> str:
        """The package that brings a thing; empty for ours."""
        entry = None if name in self._ours else self._others.get(name)
        return entry.dist.name if entry and entry.dist else ""

    def find(self, name: str) -> T:
        """The thing of that name; an unknown name is the user's error."""
        self.check(name)
        return self[name]

    def check(self, name: str) -> None:
        if name not in self:
            names = f"{self.group.rpartition('.')[2]}: {', '.join(self)}"
            raise InputError(f"there is no {self.kind} {quoted(name)}", nearest(name, self, names))
