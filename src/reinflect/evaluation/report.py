"""An evaluation as a reader gets it: tables in plain text, or one JSON object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from reinflect.errors import printable
from reinflect.evaluation.mistakes import Change, Mistake, commonest_mistakes
from reinflect.evaluation.scores import Evaluation, Grouping, MacroEvaluation, Score, breakdown
from reinflect.evaluation.tables import table, visible_piece

if TYPE_CHECKING:
    from reinflect.evaluation.significance import Comparison  # which imports numpy: only where two are compared

GROUP_HEADERS: dict[Grouping, str] = {"features": "features", "pos": "part of speech"}


class Figures(Protocol):
    """Anything with the figures of a score."""

    @property
    def accuracy(self) -> float: ...
    @property
    def levenshtein(self) -> float: ...
    @property
    def items(self) -> int: ...
    @property
    def missing(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Rival:
    """Other predictions for the same gold, and how ours compare."""

    name: str
    evaluation: Evaluation | MacroEvaluation
    comparison: "Comparison"

    def signature(self, ours: Evaluation | MacroEvaluation) -> str:
        return f"{ours.signature}|bootstrap:{self.comparison.resamples}|seed:{self.comparison.seed}"


@dataclass(frozen=True, slots=True)
class Report:
    """What was asked for: the score, and perhaps a breakdown, a rival and the commonest mistakes."""

    name: str
    evaluation: Evaluation | MacroEvaluation
    by: Grouping | None = None
    rival: Rival | None = None
    mistakes: int = 0

    def text(self) -> str:
        parts = [_score_table(self.evaluation)]
        if self.by:
            parts.append(_breakdown_table(self.by, breakdown(self.evaluation.cells, self.by)))
        if self.rival:
            parts.append(_comparison_text(self.name, self.evaluation, self.rival))
        if self.mistakes:
            parts.append(_mistakes_table(commonest_mistakes(self.evaluation.cells, self.mistakes)))
        parts.append((self.rival.signature(self.evaluation) if self.rival else self.evaluation.signature) + "\n")
        return "\n".join(parts)

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {**_figures(self.evaluation), "signature": self.evaluation.signature}
        if isinstance(self.evaluation, MacroEvaluation):
            found["languages"] = {
                name: {**_figures(one), "signature": one.signature} for name, one in self.evaluation.languages.items()
            }
        if self.by:
            groups = breakdown(self.evaluation.cells, self.by)
            found["breakdown"] = {"by": self.by, "groups": {name: _figures(score) for name, score in groups.items()}}
        if self.rival:
            found["comparison"] = _comparison_json(self.name, self.evaluation, self.rival)
        if self.mistakes:
            found["errors"] = [_mistake_json(m) for m in commonest_mistakes(self.evaluation.cells, self.mistakes)]
        return found


def _score_table(evaluation: Evaluation | MacroEvaluation) -> str:
    if isinstance(evaluation, Evaluation):
        return table(("accuracy", "Levenshtein", "items"), [_numbers(evaluation)], sides=("right",) * 3)
    rows = [(printable(name), *_numbers(one)) for name, one in evaluation.languages.items()]
    rows.append(("macro average", *_numbers(evaluation)))
    return _named_table("language", rows)


def _breakdown_table(by: Grouping, groups: Mapping[str, Score]) -> str:
    return _named_table(GROUP_HEADERS[by], [(printable(name), *_numbers(score)) for name, score in groups.items()])


def _named_table(what: str, rows: Sequence[Sequence[str]]) -> str:
    return table((what, "accuracy", "Levenshtein", "items"), rows, sides=("left", "right", "right", "right"))


def _numbers(figures: Figures) -> tuple[str, str, str]:
    return f"{figures.accuracy:.2f}", f"{figures.levenshtein:.2f}", str(figures.items)


def _figures(figures: Figures) -> dict[str, float | int]:
    return {
        "accuracy": figures.accuracy,
        "levenshtein": figures.levenshtein,
        "items": figures.items,
        "missing": figures.missing,
    }


def _comparison_text(name: str, ours: Evaluation | MacroEvaluation, rival: Rival) -> str:
    compared = rival.comparison
    rows = [(printable(name), *_numbers(ours)), (printable(rival.name), *_numbers(rival.evaluation))]
    return (
        _named_table("predictions", rows)
        + f"difference {compared.difference:+.2f}, 95 % interval {compared.low:+.2f} to {compared.high:+.2f}, "
        + f"p = {compared.p_value:.4f} (paired bootstrap, {compared.resamples} resamples)\n"
        + compared.verdict(printable(name), printable(rival.name))
        + "\n"
    )


def _comparison_json(name: str, ours: Evaluation | MacroEvaluation, rival: Rival) -> dict[str, Any]:
    compared = rival.comparison
    return {
        "predicted": {"name": name, **_figures(ours)},
        "other": {"name": rival.name, **_figures(rival.evaluation)},
        "difference": compared.difference,
        "interval": [compared.low, compared.high],
        "p_value": compared.p_value,
        "only_predicted_right": compared.won,
        "only_other_right": compared.lost,
        "real": compared.real,
        "verdict": compared.verdict(name, rival.name),
        "signature": rival.signature(ours),
    }


def _mistakes_table(mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return "no wrong predictions\n"
    rows = [
        (str(m.count), _change_text(m.change), "" if m.change.position == "missing" else m.change.position, _example(m))
        for m in mistakes
    ]
    return table(("count", "error", "where", "example"), rows, sides=("right", "left", "left", "left"))


def _change_text(change: Change) -> str:
    if change.position == "missing":
        return "(no prediction)"
    return f"{visible_piece(change.gold)}→{visible_piece(change.predicted)}"


def _example(mistake: Mistake) -> str:
    cell = mistake.example
    got = "" if cell.missing else f", not {printable(cell.predicted) or visible_piece('')}"
    return f"{printable(cell.lemma)} {printable(cell.features.spelling)}: {printable(cell.gold)}{got}"


def _mistake_json(mistake: Mistake) -> dict[str, Any]:
    cell = mistake.example
    return {
        **mistake.change._asdict(),
        "count": mistake.count,
        "example": {
            "lemma": cell.lemma,
            "features": cell.features.spelling,
            "gold": cell.gold,
            "predicted": cell.predicted,
        },
    }
