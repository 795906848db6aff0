"""reinflect learns to inflect words: examples of `lemma, features, form` in, an inflector out."""

__version__ = "0.1.0"
