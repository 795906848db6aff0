"""A package outside reinflect that brings an aligner, an augmentation, a strategy and a system."""
