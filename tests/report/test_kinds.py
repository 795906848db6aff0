"""Names, titles and colours of kinds."""

import pytest

from reinflect.report.curves import PALETTE, ModelLog, colour_of, title_of
from reinflect.systems import SYSTEMS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("german-low-haem-smart-3", "haem-smart"),
        ("hacm-naive-1", "hacm-naive"),
        ("welsh-high-soft-12", "soft"),
        ("welsh-low-pointer-smart-1", "pointer-smart"),
        ("welsh-low-pointer-1", "pointer"),
        ("", ""),
    ],
)
def test_the_kind_of_a_model(name: str, kind: str) -> None:
    assert ModelLog(name, []).kind == kind


def test_titles() -> None:
    assert [title_of(kind) for kind in ("hacm-naive", "soft", "pointer-smart")] == [
        "HACM, naive",
        "soft attention",
        "pointer, smart",
    ]


def test_other_systems_get_colours_from_the_palette() -> None:
    assert colour_of("hacm-naive", 0) == colour_of("hacm-smart", 1) == SYSTEMS["hacm"].colour
    others = [colour_of("pointer-smart", number) for number in range(len(PALETTE) + 1)]
    assert others == [*PALETTE, PALETTE[0]]
