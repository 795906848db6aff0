"""Learning curves as pictures."""

from collections.abc import Sequence

from reinflect.report import curves
from reinflect.report.curves import FEW, Learning
from reinflect.report.drawing import Curve, key, line_chart
from reinflect.report.html import Html, element, joined


def style_of(kind: str) -> str:
    """A colour for the system, a kind of line for the alignment."""
    system, _, alignment = kind.partition("-")
    return f"{system} {alignment}".strip()


def title_of(kind: str) -> str:
    system, _, alignment = kind.partition("-")
    return f"{system.upper() if system != 'soft' else 'soft attention'}{', ' + alignment if alignment else ''}"


def learning_curves(models: Sequence[Learning], *, single: bool = True) -> Html:
    """Dev accuracy and loss, epoch by epoch: each kind's mean and, if they are few, single models."""
    kinds = curves.by_kind(models)
    accuracies: list[Curve] = []
    losses: list[Curve] = []
    if single and len(models) <= FEW:
        for kind, own in kinds.items():
            style = f"{style_of(kind)} faint"
            accuracies += [Curve(model.name, style, model.accuracies) for model in own]
            losses += [Curve(model.name, style, model.losses) for model in own]
    for kind, own in kinds.items():
        accuracies.append(Curve(f"{title_of(kind)}, mean of the best so far", style_of(kind), curves.mean_best(own)))
        losses.append(Curve(f"{title_of(kind)}, mean", style_of(kind), curves.mean_loss(own)))
    entries = [(style_of(kind), f"{title_of(kind)} ({len(own)})") for kind, own in kinds.items()]
    return joined(
        [
            key(entries),
            element(
                "div",
                _figure("accuracy on dev items", accuracies, "per cent right", top=_above(accuracies)),
                _figure("loss on training items", losses, "loss", decades=True),
                class_="pair",
            ),
        ]
    )


def _above(lines: Sequence[Curve]) -> float:
    """A round number of per cent that no line goes above."""
    highest = max((y for line in lines for _, y in line.points), default=100.0)
    return min(100.0, 10.0 * (highest // 10 + 1))


def _figure(what: str, lines: Sequence[Curve], label: str, *, top: float | None = None, decades: bool = False) -> Html:
    drawn = line_chart(what, lines, x_label="epoch", y_label=label, top=top, decades=decades)
    return element("figure", element("figcaption", what), drawn)
