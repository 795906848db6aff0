"""How good predictions are: accuracy, Levenshtein, what the wrong ones have in common, whether a difference is real."""

from reinflect.evaluation.cells import Judged, judge
from reinflect.evaluation.scores import Evaluation, MacroEvaluation, Score, evaluate, evaluate_languages

__all__ = ["Evaluation", "Judged", "MacroEvaluation", "Score", "evaluate", "evaluate_languages", "judge"]
