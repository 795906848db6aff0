"""Settings that systems made of LSTMs share."""

from typing import Annotated, Literal

from msgspec import Meta

from reinflect.settings import Settings, Size


class RecurrentSettings(Settings, frozen=True, kw_only=True):
    """The LSTMs of a system, and the dropout of their outputs."""

    cell: Literal["lstm", "coupled"] = "lstm"
    """lstm: the standard one; coupled: that of the 2017 code, with coupled gates and peepholes (slower here)."""
    forget_bias: Annotated[float, Meta(ge=-10, le=10)] = 0.0
    """The initial bias of the standard cell's forget gates; 1 is often advised, but costs two points at low."""
    feature_embedding: Size = 20
    dropout_kind: Literal["plain", "variational"] = "variational"
    """plain: a mask for every step; variational: one mask for all steps of a sequence."""
    dropout_on: tuple[Literal["encoder", "written", "deleted", "history", "state"], ...] = (
        "encoder",
        "written",
        "deleted",
        "history",
    )
    """Whose outputs are dropped: the encoder's, LSTM^y's, LSTM^d's, LSTM^a's, or the state s_t. HACM has the first and
    the last, soft attention these and LSTM^y. (Only outputs: the 2017 code's LSTMs also dropped their own feedback.)"""
