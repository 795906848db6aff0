"""The parameters of models that may come from different fleets, together."""

from collections.abc import Sequence

import torch
from torch import Tensor

from reinflect.ensemble.member import TrainedModel
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems.system import System


def joined(
    system: System, settings: Settings, models: Sequence[TrainedModel], device: torch.device | str
) -> tuple[Parameters, Tensor]:
    """The parameters of models that share system and settings, and their valid outputs."""
    sizes = [system.sizes(model.inventory, settings) for model in models]
    own = [{name: torch.from_numpy(array) for name, array in model.parameters.items()} for model in models]
    joined = Parameters.join(system.shapes(settings), sizes, own)
    parameters = Parameters(joined.shapes, joined.sizes, joined.flat.to(device))
    return parameters, system.equations.allowed_outputs(sizes, parameters.sizes[system.outputs]).to(device)
