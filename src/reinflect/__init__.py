"""reinflect learns to inflect words: examples of `lemma, features, form` in, an inflector out.

The names of `__all__` are imported when they are first asked for, so that `import reinflect` is instant.
"""

import sys
from importlib import import_module
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

_HOMES = {
    "Inflector": "reinflect.inflector.inflector",
    "align": "reinflect.align",
    "evaluate": "reinflect.score",
    "load": "reinflect.inflector.pocket",
    "train": "reinflect.train",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'reinflect' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """`reinflect.align` and `reinflect.train` stay functions, though importing the modules would replace them."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
