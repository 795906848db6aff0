"""How good predictions are: accuracy, Levenshtein distance, common mistakes, and whether a difference is real."""

from reinflect.evaluation.cells import Judged
from reinflect.evaluation.scores import Evaluation, MacroEvaluation, Score, evaluate

__all__ = ["Evaluation", "Judged", "MacroEvaluation", "Score", "evaluate"]
