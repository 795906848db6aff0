"""Alignments to actions (the oracle), actions to strings (the executor), actions to index arrays (the tapes)."""
