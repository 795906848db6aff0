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

from reinflect.layers.cells import CELLS, dropping, encode, feature_vector, for_steps, projected, read
from reinflect.layers.examples import Lemmas, LemmaState, Trajectory
from reinflect.layers.operations import Dropout, at, linear, negative_log_softmax, penalty, pick, rows, with_empty
from reinflect.layers.parameters import Parameters
from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE, STOP_NUMBER, HaemSettings
from reinflect.systems.symbols import Sizes
from reinflect.systems.system import Learner


@dataclass(frozen=True)
class HaemBatch(Trajectory):
    """HAEM's trajectories. *Shapes:* (M, T, B) but for written (M, Y, B), deleted and keep (M, K, B)"""

    attended: Tensor
    """0 past the end of the lemma, else one more than the position."""
    lemma_left: Tensor
    written: Tensor
    written_state: Tensor
    deleted: Tensor
    keep: Tensor
    deleted_state: Tensor


def allowed_outputs(sizes: Sizes, padded: int) -> Tensor:
    """Valid actions once the lemma is used up (row 0) and while it is not (row 1). *Shape:* (2, A)"""
    allowed = torch.zeros(2, padded, dtype=torch.bool)
    allowed[:, : sizes["actions"]] = True
    allowed[0, [COPY_NUMBER, DELETE_NUMBER]] = False
    allowed[1, STOP_NUMBER] = False
    return allowed


def _action_embedding(parameters: Parameters, settings: HaemSettings) -> Tensor:
    if not settings.tied:
        return parameters["action_embedding"]
    return torch.cat([parameters["action_embedding"], parameters["embedding"][:, FIRST_CHARACTER:]], dim=1)


def losses(
    parameters: Parameters, batch: HaemBatch, settings: HaemSettings, allowed: Tensor, dropout: Dropout | None = None
) -> Tensor:
    """-log P of the right actions. *Shape:* (M, T, B)"""

    def visible(name: str, purpose: int, states: Tensor) -> Tensor:
        """An LSTM's output before it has read anything, and after each symbol."""
        return with_empty(parameters[f"{name}.empty"], dropping(states, name, purpose, settings, dropout))

    def entering(name: str, states: Tensor) -> Tensor:
        """What the states of a part of the input add to s_t."""
        return linear(states, parameters[f"state.{name}"])

    embedding = parameters["embedding"]
    attended = visible("encoder", 0, encode(parameters, batch, settings))
    counts = batch.written_state.amax(dim=(1, 2))
    written = visible("written", 1, read(parameters, "written", embedding, batch.written, settings, counts))
    features = feature_vector(parameters, batch, settings)
    state = pick(entering("attended", attended), batch.attended)
    state = state + pick(entering("written", written), batch.written_state)
    state = state + linear(features, parameters["state.features"], parameters["state.bias"]).unsqueeze(1)
    if settings.history:
        table, counts = _action_embedding(parameters, settings), batch.counts - 1
        history = visible("history", 2, read(parameters, "history", table, batch.taken[:, :-1], settings, counts))
        state = state + entering("history", history)
    if settings.deletions:
        counts = batch.deleted_state.amax(dim=(1, 2))
        states = read(parameters, "deleted", embedding, batch.deleted, settings, counts, batch.keep)
        state = state + pick(entering("deleted", visible("deleted", 3, states)), batch.deleted_state)
    state = dropping(F.relu(state), "state", 4, settings, dropout)
    logits = linear(state, parameters["output.weights"], parameters["output.bias"])
    return negative_log_softmax(logits + rows(penalty(allowed, logits.dtype), batch.lemma_left), batch.right)


@dataclass(frozen=True)
class Reader:
    """An LSTM that reads symbol by symbol: what s_t reads of it, and its state. *Shapes:* (M, B, H)"""

    visible: Tensor
    output: Tensor
    memory: Tensor

    def where(self, chosen: Tensor, other: "Reader") -> "Reader":
        """This one for the chosen items, the other for the rest. *Shape:* chosen (M, B)"""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Reader(*(torch.where(chosen.unsqueeze(-1), mine, theirs) for mine, theirs in pairs))


@dataclass(frozen=True, kw_only=True)
class State(LemmaState):
    attended: Tensor
    """What the lemma's positions add to s_t, first the end of the lemma. *Shape:* (M, B, N + 1, H)"""
    features: Tensor
    """What the features add, with the bias. *Shape:* (M, B, H)"""
    readers: dict[str, Reader]
    """LSTM^y (written), LSTM^a (history) and LSTM^d (deleted), as far as there are any."""


class Decoder:
    """HAEM step by step."""

    end = STOP_NUMBER

    def __init__(self, parameters: Parameters, settings: HaemSettings, allowed: Tensor) -> None:
        self.parameters, self.settings = parameters, settings
        self.step = CELLS[settings.cell].step
        self.penalty = penalty(allowed, parameters.flat.dtype)
        names = [name for name in ("written", "history", "deleted") if f"{name}.empty" in parameters.views]
        self.recurrent = {name: for_steps(parameters[f"{name}.recurrent"]) for name in names}
        of_actions = {"history": _action_embedding(parameters, settings)} if settings.history else {}
        self.tables = {
            name: projected(parameters, name, of_actions.get(name, parameters["embedding"])) for name in names
        }

    def start(self, lemmas: Lemmas) -> State:
        parameters = self.parameters
        states = encode(parameters, lemmas, self.settings)
        attended = linear(with_empty(parameters["encoder.empty"], states), parameters["state.attended"])
        features = feature_vector(parameters, lemmas, self.settings)
        return State(
            **LemmaState.first(lemmas),
            attended=attended.transpose(1, 2).contiguous(),  # read at every step
            features=linear(features, parameters["state.features"], parameters["state.bias"]),
            readers={name: self._empty(name, lemmas.lengths) for name in self.tables},
        )

    def _empty(self, name: str, like: Tensor) -> Reader:
        """*Shape:* like (M, B)"""
        visible = self.parameters[f"{name}.empty"].unsqueeze(1).expand(*like.shape, -1)
        zero = torch.zeros_like(visible)
        return Reader(visible, zero, zero)

    def _read(self, name: str, reader: Reader, numbers: Tensor, where: Tensor | None = None) -> Reader:
        """The reader after one more symbol, for those items that have one."""
        gates = rows(self.tables[name], numbers)
        output, memory = self.step(gates, self.recurrent[name], (reader.output, reader.memory))
        after = Reader(output, output, memory)
        return after if where is None else after.where(where, reader)

    def log_probabilities(self, state: State) -> tuple[Tensor, State]:
        """log P over the valid actions; the state is unchanged. *Shape:* (M, B, A)"""
        parameters = self.parameters
        left = state.position < state.lengths
        mixed = at(state.attended, torch.where(left, state.position + 1, 0)) + state.features
        for name, reader in state.readers.items():
            mixed = mixed + linear(reader.visible, parameters[f"state.{name}"])
        logits = linear(F.relu(mixed), parameters["output.weights"], parameters["output.bias"])
        return F.log_softmax(logits + rows(self.penalty, left.long()), dim=-1), state

    def advance(self, state: State, actions: Tensor) -> tuple[Tensor, State]:
        """The literals that actions write, -1 for none, and the state after. *Shape:* actions (M, B) → (M, B)"""
        copies, deletes, writes = actions == COPY_NUMBER, actions == DELETE_NUMBER, actions >= FIRST_WRITE
        here = torch.minimum(state.position, state.lengths - 1).clamp_(min=0).unsqueeze(-1)
        attended = state.symbols.gather(2, here).squeeze(-1)
        character = actions - (FIRST_WRITE - FIRST_CHARACTER)
        pushed = torch.where(copies, attended, character.clamp(min=0))
        readers = dict(state.readers)
        readers["written"] = self._read("written", readers["written"], pushed, copies | writes)
        if "history" in readers:
            readers["history"] = self._read("history", readers["history"], actions)
        if "deleted" in readers:
            emptied = self._empty("deleted", actions).where(writes, readers["deleted"])
            readers["deleted"] = self._read("deleted", emptied, attended, deletes)
        after = replace(state, position=state.position + (copies | deletes), readers=readers)
        literal = state.literals.gather(2, here).squeeze(-1)
        return torch.where(copies, literal, torch.where(writes, character, -1)), after


LEARNER = Learner(allowed_outputs, lambda drawn, *_: drawn.by_oracle(HaemBatch), losses, Decoder)
