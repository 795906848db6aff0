"""reinflect learns to inflect words: examples of `lemma, features, form` in, an inflector out.

The names of `__all__` are imported at their first use, so that `import reinflect` is instant.
"""

import sys
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reinflect.align import align
    from reinflect.inflector.inflector import Inflector
    from reinflect.inflector.pocket import load
    from reinflect.score import evaluate
    from reinflect.train import train

__version__ = "0.2.0"
__all__ = ["Inflector", "__version__", "align", "evaluate", "load", "train"]

_MODULES = {
    "Inflector": "inflector.inflector",
    "align": "align",
    "evaluate": "score",
    "load": "inflector.pocket",
    "train": "train",
}


class _Package(ModuleType):
    """`reinflect.align` and `reinflect.train` stay functions, though importing the modules would replace them."""

    def __getattr__(self, name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module 'reinflect' has no attribute {name!r}")
        return resolve_name(f"reinflect.{_MODULES[name]}:{name}")

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _MODULES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return __all__


sys.modules[__name__].__class__ = _Package
