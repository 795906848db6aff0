"""How good predictions are: accuracy, Levenshtein distance, common mistakes, and whether a difference is real."""

from reinflect.score.scores import Evaluation, Judged, MacroEvaluation, Score, evaluate

__all__ = ["Evaluation", "Judged", "MacroEvaluation", "Score", "evaluate"]
