"""What the systems have in common: the encoder of the lemma, and the vector of features."""

import torch
from torch import Tensor

from reinflect.settings import Settings
from reinflect.systems.kernels.cells import CELLS
from reinflect.systems.layers.batches import Lemmas
from reinflect.systems.layers.operations import linear, pick, rows
from reinflect.systems.layers.parameters import Parameters, Shape


def lstm_shapes(name: str, inputs: int | str, settings: Settings, hidden: int | None = None) -> dict[str, Shape]:
    """The parameters of one LSTM: W, U and b."""
    cell, hidden = CELLS[settings.cell], hidden or settings.hidden
    gates = hidden * cell.gates
    bias = Shape((gates,), "forget", settings.forget_bias) if settings.cell == "lstm" else Shape((gates,), "zero")
    return {
        f"{name}.input": Shape((inputs, gates)),
        f"{name}.recurrent": Shape((hidden, hidden * cell.recurrent)),
        f"{name}.bias": bias,
    }


def feature_width(settings: Settings) -> int | str:
    return "embedded_features" if settings.features == "embedded" else "features"


def feature_shapes(settings: Settings) -> dict[str, Shape]:
    if settings.features != "embedded":
        return {}
    return {"features.embedding": Shape(("feature_rows", settings.feature_embedding), "embedding")}


def feature_sizes(features: int, settings: Settings) -> dict[str, int]:
    return {
        "features": features,
        "feature_rows": features + 1,
        "embedded_features": features * settings.feature_embedding,
    }


def feature_vector(parameters: Parameters, lemmas: Lemmas, settings: Settings) -> Tensor:
    """f: the set of features as an n-hot vector, or one embedding per feature of the training data.

    In the second, every feature that is absent has the same vector, row 0. *Shape:* (M, B, P or P·F)
    """
    if settings.features != "embedded":
        return lemmas.features.clamp(min=0)
    present, ours = lemmas.features > 0, lemmas.features >= 0
    numbers = torch.arange(1, present.shape[-1] + 1, device=present.device)
    # Features of other models' languages have no vector at all: the weights behind them would learn from it.
    return (rows(parameters["features.embedding"], present * numbers) * ours.unsqueeze(-1)).flatten(2)


def projected(parameters: Parameters, name: str, embedding: Tensor) -> Tensor:
    """Every symbol as an LSTM's gates see it: W·E(symbol) + b, once per symbol instead of once per step.

    *Shape:* embedding (M, V, E) → (M, V, G)
    """
    return linear(embedding, parameters[f"{name}.input"], parameters[f"{name}.bias"])


def read(
    parameters: Parameters,
    name: str,
    embedding: Tensor,
    numbers: Tensor,
    settings: Settings,
    steps: Tensor,
    keep: Tensor | None = None,
) -> Tensor:
    """Run one LSTM over symbols, of which each model needs so many. *Shape:* numbers (M, L, B) → (M, L, B, H)"""
    gates = rows(projected(parameters, name, embedding), numbers)
    return CELLS[settings.cell].run(gates, parameters[f"{name}.recurrent"], keep, steps)


def encoder_shapes(settings: Settings) -> dict[str, Shape]:
    return lstm_shapes("forward", settings.embedding, settings) | lstm_shapes("backward", settings.embedding, settings)


def encode(parameters: Parameters, embedding: Tensor, lemmas: Lemmas, settings: Settings) -> Tensor:
    """h_1 … h_n: a bidirectional LSTM over the lemma. *Shape:* (M, N, B, 2H)"""
    steps = lemmas.lengths.amax(dim=1)
    forwards = read(parameters, "forward", embedding, lemmas.symbols, settings, steps)
    backwards = read(parameters, "backward", embedding, lemmas.reversed, settings, steps)
    return torch.cat([forwards, pick(backwards, lemmas.mirrored())], dim=-1)
