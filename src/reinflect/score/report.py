"""The report of an evaluation: tables in plain text, or a JSON object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from reinflect.errors import printable
from reinflect.score.mistakes import MISSING, Mistake, commonest_mistakes
from reinflect.score.scores import GROUPINGS, Evaluated, Grouping, MacroEvaluation, Score, breakdown
from reinflect.text import table, visible_piece

if TYPE_CHECKING:
    from reinflect.score.significance import Comparison  # imports numpy, which only a comparison needs

NUMBERS = ("accuracy", "Levenshtein", "items")
Scored: TypeAlias = Score | Evaluated


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The score and, on request, a breakdown, a comparison with a rival, and the most frequent mistakes."""

    name: str
    evaluation: Evaluated
    by: Grouping | None = None
    rival: tuple[str, Evaluated] | None = None
    """The name and the evaluation of other predictions for the same gold."""
    mistakes: int = 0

    def text(self) -> str:
        if isinstance(self.evaluation, MacroEvaluation):
            parts = [_named_table("language", self.evaluation.languages, ("macro average", self.evaluation))]
        else:
            parts = [table(NUMBERS, [_numbers(self.evaluation)], sides=("right",) * 3)]
        if self.by:
            parts.append(_named_table(GROUPINGS[self.by], breakdown(self.evaluation.cells, self.by)))
        signature = self.evaluation.signature
        if self.rival:
            comparison, signature = _compared(self.evaluation, self.rival[1])
            verdict = comparison.text(printable(self.name), printable(self.rival[0]))
            parts.append(_named_table("predictions", {}, (self.name, self.evaluation), self.rival) + verdict)
        if self.mistakes:
            rows = [_mistake_row(mistake) for mistake in commonest_mistakes(self.evaluation.cells, self.mistakes)]
            mistakes = table(("count", "error", "where", "example"), rows, sides=("right", "left", "left", "left"))
            parts.append(mistakes if rows else "no wrong predictions\n")
        return "\n".join([*parts, f"{signature}\n"])

    def json(self) -> dict[str, Any]:
        evaluation = self.evaluation
        report: dict[str, Any] = {**_figures(evaluation), "signature": evaluation.signature}
        if isinstance(evaluation, MacroEvaluation):
            languages = evaluation.languages.items()
            report["languages"] = {name: {**_figures(each), "signature": each.signature} for name, each in languages}
        if self.by:
            groups = breakdown(evaluation.cells, self.by)
            report["breakdown"] = {"by": self.by, "groups": {name: _figures(score) for name, score in groups.items()}}
        if self.rival:
            other, others = self.rival
            compared, signature = _compared(evaluation, others)
            report["comparison"] = {
                "predicted": {"name": self.name, **_figures(evaluation)},
                "other": {"name": other, **_figures(others)},
                "difference": compared.difference,
                "interval": [compared.low, compared.high],
                "p_value": compared.p_value,
                "only_predicted_right": compared.won,
                "only_other_right": compared.lost,
                "real": compared.real,
                "verdict": compared.verdict(self.name, other),
                "signature": signature,
            }
        if self.mistakes:
            report["errors"] = [_mistake_json(m) for m in commonest_mistakes(evaluation.cells, self.mistakes)]
        return report


def _named_table(header: str, named: Mapping[str, Scored], *more: tuple[str, Scored]) -> str:
    rows = [(printable(name), *_numbers(scored)) for name, scored in (*named.items(), *more)]
    return table((header, *NUMBERS), rows, sides=("left", "right", "right", "right"))


def _numbers(scored: Scored) -> tuple[str, str, str]:
    return f"{scored.accuracy:.2f}", f"{scored.levenshtein:.2f}", str(scored.items)


def _figures(scored: Scored) -> dict[str, float | int]:
    return {name: getattr(scored, name) for name in ("accuracy", "levenshtein", "items", "missing")}


def _compared(ours: Evaluated, others: Evaluated) -> "tuple[Comparison, str]":
    """The comparison, and the signature of its figures."""
    from reinflect.score.significance import RESAMPLES, SEED, compare

    return compare(ours, others), f"{ours.signature}|bootstrap:{RESAMPLES}|seed:{SEED}"


def _mistake_row(mistake: Mistake) -> tuple[str, str, str, str]:
    change, cell = mistake.change, mistake.example
    right = f"{printable(cell.lemma)} {printable(cell.features.spelling)}: {printable(cell.gold)}"
    if change == MISSING:
        return str(mistake.count), "(no prediction)", "", right
    pieces = f"{visible_piece(change.gold)}→{visible_piece(change.predicted)}"
    example = f"{right}, not {printable(cell.predicted) or visible_piece('')}"
    return str(mistake.count), pieces, change.position, example


def _mistake_json(mistake: Mistake) -> dict[str, Any]:
    lemma, bundle, gold, predicted, *_ = mistake.example
    example = {"lemma": lemma, "features": bundle.spelling, "gold": gold, "predicted": predicted}
    return {**mistake.change._asdict(), "count": mistake.count, "example": example}
