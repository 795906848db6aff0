"""From alignments to actions (the oracle), and from actions to index arrays (the tapes).

An action is a string. A single character writes that character; a longer string (`STEP`, `COPY`) is any other action,
so no letter of any language can be mistaken for one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """An action with its place in the lemma, as `reinflect oracle` shows it: one row of the paper's Table 1."""

    action: str
    position: int
    """The attention pointer i when the action is taken, counted as in the paper."""
    attended: str
    """The character at the pointer; `<s>` or `</s>` at the edges, empty past the end."""
    written: str
    """What the action appends to the form."""
