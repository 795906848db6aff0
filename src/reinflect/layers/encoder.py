"""The encoder of the lemma and the vector of features, which the systems share."""

import torch
from torch import Tensor

from reinflect.layers.batches import Lemmas
from reinflect.layers.cells import CELLS
from reinflect.layers.operations import Dropout, dropped, linear, pick, rows
from reinflect.layers.parameters import Parameters
from reinflect.systems.symbols import RecurrentSettings


def feature_vector(parameters: Parameters, lemmas: Lemmas, settings: RecurrentSettings) -> Tensor:
    """f: an n-hot vector, or one embedding per feature, row 0 for absent ones. *Shape:* (M, B, P or P·F)"""
    features = lemmas.features
    if settings.features != "embedded":
        return features.clamp(min=0)
    present, ours = features > 0, features >= 0
    numbers = torch.arange(1, present.shape[-1] + 1, device=present.device)
    # Features of other models' languages have a zero vector: their weights must not learn from it.
    return (rows(parameters["features.embedding"], present * numbers) * ours.unsqueeze(-1)).flatten(2)


def projected(parameters: Parameters, name: str, embedding: Tensor) -> Tensor:
    """W·E(symbol) + b of an LSTM, once per symbol instead of once per step. *Shape:* (M, V, E) → (M, V, G)"""
    return linear(embedding, parameters[f"{name}.input"], parameters[f"{name}.bias"])


def read(
    parameters: Parameters,
    name: str,
    embedding: Tensor,
    numbers: Tensor,
    settings: RecurrentSettings,
    steps: Tensor,
    keep: Tensor | None = None,
) -> Tensor:
    """Run one LSTM over symbols. *Shape:* numbers (M, L, B), steps of each model (M) → (M, L, B, H)"""
    gates = rows(projected(parameters, name, embedding), numbers)
    keep = None if keep is None else keep.to(gates.dtype)
    return CELLS[settings.cell].run(gates, parameters[f"{name}.recurrent"], keep, steps)


def encode(parameters: Parameters, embedding: Tensor, lemmas: Lemmas, settings: RecurrentSettings) -> Tensor:
    """h_1 … h_n: a bidirectional LSTM over the lemma. *Shape:* (M, N, B, 2H)"""
    steps = lemmas.lengths.amax(dim=1)
    forwards = read(parameters, "forward", embedding, lemmas.symbols, settings, steps)
    backwards = read(parameters, "backward", embedding, lemmas.reversed, settings, steps)
    return torch.cat([forwards, pick(backwards, _mirrored(lemmas))], dim=-1)


def _mirrored(lemmas: Lemmas) -> Tensor:
    """The position of each symbol, counted from the end. *Shape:* (M, N, B)"""
    positions = torch.arange(lemmas.symbols.shape[1], device=lemmas.symbols.device).view(1, -1, 1)
    return (lemmas.lengths.unsqueeze(1) - 1 - positions).clamp_(min=0)


def encode_deeper(parameters: Parameters, states: Tensor, lemmas: Lemmas, settings: RecurrentSettings) -> Tensor:
    """A second bidirectional LSTM over the states of the first. *Shape:* (M, N, B, 2H) → (M, N, B, 2H)"""
    steps, mirrored, run = lemmas.lengths.amax(dim=1), _mirrored(lemmas), CELLS[settings.cell].run
    forwards, backwards = (
        run(projected(parameters, name, inputs), parameters[f"{name}.recurrent"], None, steps)
        for name, inputs in (("deeper.forward", states), ("deeper.backward", pick(states, mirrored)))
    )
    return torch.cat([forwards, pick(backwards, mirrored)], dim=-1)


def dropping(states: Tensor, name: str, purpose: int, settings: RecurrentSettings, dropout: Dropout | None) -> Tensor:
    """States after dropout, if the settings ask for it in the part of this name. *Shape:* (M, L, B, D)"""
    if dropout is None or name not in settings.dropout_on:
        return states
    return dropped(states, dropout, purpose, variational=settings.dropout_kind == "variational")
