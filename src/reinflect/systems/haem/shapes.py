"""HAEM's parameters."""

from reinflect.systems.haem.batch import FIRST_WRITE
from reinflect.systems.haem.settings import HaemSettings
from reinflect.systems.layers.shapes import Shape, encoder_shapes, feature_shapes, feature_width, lstm_shapes


def shapes(settings: HaemSettings) -> dict[str, Shape]:
    hidden, embedding = settings.hidden, settings.embedding
    history = {
        **lstm_shapes("history", embedding, settings, settings.history_hidden),
        "history.empty": Shape((settings.history_hidden,), "embedding"),
        "state.history": Shape((settings.history_hidden, hidden)),
    }
    deletions = {
        **lstm_shapes("deleted", embedding, settings),
        "deleted.empty": Shape((hidden,), "embedding"),
        "state.deleted": Shape((hidden, hidden)),
    }
    # Tied: WRITE actions have their characters' embeddings, and only the other three have their own.
    own_actions = FIRST_WRITE if settings.tied else "actions"
    return {
        "embedding": Shape(("characters", embedding), "embedding"),
        **({"action_embedding": Shape((own_actions, embedding), "embedding")} if settings.history else {}),
        **feature_shapes(settings),
        **encoder_shapes(settings),
        "encoder.empty": Shape((2 * hidden,), "embedding"),
        **lstm_shapes("written", embedding, settings),
        "written.empty": Shape((hidden,), "embedding"),
        **(history if settings.history else {}),
        **(deletions if settings.deletions else {}),
        "state.written": Shape((hidden, hidden)),
        "state.attended": Shape((2 * hidden, hidden)),
        "state.features": Shape((feature_width(settings), hidden)),
        "state.bias": Shape((hidden,), "zero"),
        "output.weights": Shape((hidden, "actions")),
        "output.bias": Shape(("actions",), "zero"),
    }
