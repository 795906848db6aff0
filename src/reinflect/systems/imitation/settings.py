"""The settings of a HAEM trained by imitation."""

from reinflect.settings import Positive
from reinflect.systems.haem.settings import HaemSettings


class ImitationSettings(HaemSettings, frozen=True, kw_only=True):
    """HAEM's, and how soon a model acts by itself in training."""

    roll_in: Positive = 12.0
    """k: after e epochs a step's action is the model's own with probability 1 - k / (k + exp(e / k)), else a right
    one. With 12: .08 at first, .5 after 30 epochs; with a large number, hardly ever."""
