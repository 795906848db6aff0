"""HAEM, the hard attention model over edit actions (§4).

s_t = ReLU(W·[y; h_i; f; a; d] + b)
P = softmax(V·s_t + c), over the actions that are valid

y is the state of LSTM^y, which reads the characters of the form so far; a of LSTM^a, which reads the actions; d of
LSTM^d, which reads deleted characters and is emptied by every WRITE. The basic system has neither a nor d.
"""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from reinflect.data.vocabulary import Vocabulary
from reinflect.settings import Settings
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.layers.batches import HaemBatch, Lemmas
from reinflect.systems.layers.encoder import (
    encode,
    encoder_shapes,
    feature_shapes,
    feature_sizes,
    feature_vector,
    feature_width,
    lstm_shapes,
    projected,
    read,
)
from reinflect.systems.layers.operations import (
    Dropout,
    action_counts,
    at,
    dropped,
    linear,
    negative_log_softmax,
    penalty,
    pick,
    rows,
    with_empty,
)
from reinflect.systems.layers.parameters import Parameters, Shape, Sizes
from reinflect.systems.layers.states import Focus
from reinflect.transitions.edits import COPY, DELETE, STOP
from reinflect.transitions.tapes import HAEM_SPECIALS

COPY_NUMBER, DELETE_NUMBER, STOP_NUMBER, FIRST_WRITE = 0, 1, 2, 3
assert HAEM_SPECIALS == (COPY, DELETE, STOP)
UNKNOWN_NUMBER = 0
FIRST_CHARACTER = 1
"""Character k of the alphabet is number k + 1 as a character and number k + 3 as the action that writes it."""


def shapes(settings: Settings) -> dict[str, Shape]:
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
    # Tied, the actions that write have their characters' embeddings, and only the other three have their own.
    own_actions = len(HAEM_SPECIALS) if settings.tied else "actions"
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


def sizes(characters: Vocabulary, features: int, settings: Settings) -> dict[str, int]:
    written = len(characters) - FIRST_CHARACTER
    return {
        "characters": len(characters),
        "actions": FIRST_WRITE + written,
        **feature_sizes(features, settings),
    }


def allowed_outputs(own: Sizes, padded: int) -> Tensor:
    """Valid actions once the lemma is used up (row 0) and while it is not (row 1). *Shape:* (2, A)"""
    allowed = torch.zeros(2, padded, dtype=torch.bool)
    allowed[:, : own["actions"]] = True
    allowed[0, [COPY_NUMBER, DELETE_NUMBER]] = False
    allowed[1, STOP_NUMBER] = False
    return allowed


def _action_embedding(parameters: Parameters, settings: Settings) -> Tensor:
    if not settings.tied:
        return parameters["action_embedding"]
    return torch.cat([parameters["action_embedding"], parameters["embedding"][:, FIRST_CHARACTER:]], dim=1)


def losses(
    parameters: Parameters, batch: HaemBatch, settings: Settings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of every oracle action. *Shape:* (M, T, B)"""

    def dropping(states: Tensor, name: str, place: int) -> Tensor:
        if dropout is None or name not in settings.dropout_on:
            return states
        return dropped(states, dropout, place, variational=settings.dropout_kind == "variational")

    def entering(name: str, states: Tensor) -> Tensor:
        """What a part of the input adds to s_t, for each of its own states."""
        return linear(states, parameters[f"state.{name}"])

    embedding = parameters["embedding"]
    attended = with_empty(
        parameters["encoder.empty"], dropping(encode(parameters, embedding, batch, settings), "encoder", 0)
    )
    written = with_empty(
        parameters["written.empty"],
        dropping(
            read(parameters, "written", embedding, batch.written, settings, batch.written_state.amax(dim=(1, 2))),
            "written",
            1,
        ),
    )
    features = feature_vector(parameters, batch, settings)
    state = pick(entering("attended", attended), batch.attended) + pick(
        entering("written", written), batch.written_state
    )
    state = state + linear(features, parameters["state.features"], parameters["state.bias"]).unsqueeze(1)
    if settings.history:
        actions = read(
            parameters,
            "history",
            _action_embedding(parameters, settings),
            batch.targets[:, :-1],
            settings,
            action_counts(batch.weights) - 1,
        )
        state = state + entering("history", with_empty(parameters["history.empty"], dropping(actions, "history", 2)))
    if settings.deletions:
        deleted = read(
            parameters,
            "deleted",
            embedding,
            batch.deleted,
            settings,
            batch.deleted_state.amax(dim=(1, 2)),
            batch.keep,
        )
        state = state + pick(
            entering("deleted", with_empty(parameters["deleted.empty"], dropping(deleted, "deleted", 3))),
            batch.deleted_state,
        )
    logits = linear(dropping(F.relu(state), "state", 4), parameters["output.weights"], parameters["output.bias"])
    return negative_log_softmax(logits + rows(penalty(allowed, logits.dtype), batch.lemma_left), batch.targets)


@dataclass(frozen=True)
class Reader:
    """An LSTM that reads symbol by symbol: what it shows, and its state. *Shapes:* (M, B, H)"""

    shown: Tensor
    output: Tensor
    memory: Tensor


@dataclass(frozen=True)
class State:
    """Where decoding stands; every tensor has the items in its second dimension."""

    symbols: Tensor
    """*Shape:* (M, B, N)"""
    literals: Tensor
    """*Shape:* (M, B, N)"""
    lengths: Tensor
    """*Shape:* (M, B)"""
    attended: Tensor
    """What the lemma's positions add to s_t, that of the used-up lemma first. *Shape:* (M, B, N + 1, H)"""
    features: Tensor
    """What the features add, with the bias. *Shape:* (M, B, H)"""
    position: Tensor
    """From 0. *Shape:* (M, B)"""
    written: Reader
    history: Reader | None
    deleted: Reader | None


class Decoder:
    """HAEM step by step: the distribution over actions in a state, and the state after an action."""

    end = STOP_NUMBER

    def __init__(self, parameters: Parameters, settings: Settings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step = CELLS[settings.cell].step
        self.penalty = penalty(allowed, parameters.flat.dtype)
        embedding = parameters["embedding"]
        self.tables = {"written": projected(parameters, "written", embedding)}
        if settings.history:
            self.tables["history"] = projected(parameters, "history", _action_embedding(parameters, settings))
        if settings.deletions:
            self.tables["deleted"] = projected(parameters, "deleted", embedding)

    def start(self, lemmas: Lemmas) -> State:
        parameters = self.parameters
        states = encode(parameters, parameters["embedding"], lemmas, self.settings)
        attended = linear(with_empty(parameters["encoder.empty"], states), parameters["state.attended"])
        features = feature_vector(parameters, lemmas, self.settings)
        models, items = lemmas.lengths.shape
        return State(
            symbols=lemmas.symbols.transpose(1, 2),
            literals=(lemmas.symbols if lemmas.literals is None else lemmas.literals).transpose(1, 2),
            lengths=lemmas.lengths,
            attended=attended.transpose(1, 2).contiguous(),  # read at every step
            features=linear(features, parameters["state.features"], parameters["state.bias"]),
            position=torch.zeros_like(lemmas.lengths),
            written=self._empty("written", models, items),
            history=self._empty("history", models, items) if self.settings.history else None,
            deleted=self._empty("deleted", models, items) if self.settings.deletions else None,
        )

    def _empty(self, name: str, models: int, items: int) -> Reader:
        shown = self.parameters[f"{name}.empty"].unsqueeze(1).expand(models, items, -1)
        zero = torch.zeros_like(shown)
        return Reader(shown, zero, zero)

    def _read(self, name: str, reader: Reader, numbers: Tensor, where: Tensor | None = None) -> Reader:
        """The reader after one more symbol, for those items that have one."""
        gates = rows(self.tables[name], numbers)
        output, memory = self.step(gates, self.parameters[f"{name}.recurrent"], (reader.output, reader.memory))
        if where is None:
            return Reader(output, output, memory)
        chosen = where.unsqueeze(-1)
        return Reader(
            torch.where(chosen, output, reader.shown),
            torch.where(chosen, output, reader.output),
            torch.where(chosen, memory, reader.memory),
        )

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P over the valid actions; the state is unchanged. *Shape:* (M, B, A)"""
        parameters = self.parameters
        left = state.position < state.lengths
        mixed = at(state.attended, torch.where(left, state.position + 1, 0)) + state.features
        mixed = mixed + linear(state.written.shown, parameters["state.written"])
        if state.history is not None:
            mixed = mixed + linear(state.history.shown, parameters["state.history"])
        if state.deleted is not None:
            mixed = mixed + linear(state.deleted.shown, parameters["state.deleted"])
        logits = linear(F.relu(mixed), parameters["output.weights"], parameters["output.bias"])
        # Invalid actions are far below anything, so that their probability is nothing.
        return F.log_softmax(logits + rows(self.penalty, left.long()), dim=-1), state

    def focus(self, state: State) -> Focus:
        """The pointer."""
        return Focus(state.position)

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        """What the actions write (a literal's number, -1 for nothing), and the state after them.

        *Shape:* actions (M, B) → (M, B)
        """
        copies, deletes, writes = actions == COPY_NUMBER, actions == DELETE_NUMBER, actions >= FIRST_WRITE
        here = torch.minimum(state.position, state.lengths - 1).clamp_(min=0).unsqueeze(-1)
        attended = state.symbols.gather(2, here).squeeze(-1)
        character = actions - (FIRST_WRITE - FIRST_CHARACTER)
        pushed = torch.where(copies, attended, character.clamp(min=UNKNOWN_NUMBER))
        history, deleted = state.history, state.deleted
        if history is not None:
            history = self._read("history", history, actions)
        if deleted is not None:
            fresh = self._empty("deleted", *actions.shape)
            cleared = writes.unsqueeze(-1)
            deleted = Reader(
                *(
                    torch.where(cleared, new, old)
                    for new, old in zip(
                        (fresh.shown, fresh.output, fresh.memory),
                        (deleted.shown, deleted.output, deleted.memory),
                        strict=True,
                    )
                )
            )
            deleted = self._read("deleted", deleted, attended, deletes)
        after = replace(
            state,
            position=state.position + (copies | deletes),
            written=self._read("written", state.written, pushed, copies | writes),
            history=history,
            deleted=deleted,
        )
        literal = state.literals.gather(2, here).squeeze(-1)
        return torch.where(copies, literal, torch.where(writes, character, -1)), after
