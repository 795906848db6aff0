"""The bundled German verbs: their forms, their splits, and whether they agree with the shared task's data."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from reinflect.data import german
from reinflect.data.german import SPLITS, read_split
from reinflect.data.items import Item, read_items
from reinflect.errors import InputError

SHIPPED = Path(german.__file__).parent
MODALS = {"dürfen", "können", "mögen", "müssen", "sollen", "wollen"}
IMPERATIVES = {"V;IMP;2;SG", "V;IMP;2;PL"}
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
CELLS = (
    "V;NFIN",
    "V.PTCP;PRS",
    "V.PTCP;PST",
    *("V;IMP;2;SG", "V;IMP;2;PL"),
    *(f"V;{mood};{tense};{person}" for tense in ("PRS", "PST") for mood in ("IND", "SBJV") for person in PERSONS),
)

# Written out by hand, in this order: infinitive and participles; imperatives; then present and past, indicative
# and subjunctive, each in the order ich, du, er, wir, ihr, sie.
GOLDEN = {
    "fliegen": """
        fliegen, fliegend, geflogen
        flieg, fliegt
        fliege, fliegst, fliegt, fliegen, fliegt, fliegen
        fliege, fliegest, fliege, fliegen, flieget, fliegen
        flog, flogst, flog, flogen, flogt, flogen
        flöge, flögest, flöge, flögen, flöget, flögen""",
    "sein": """
        sein, seiend, gewesen
        sei, seid
        bin, bist, ist, sind, seid, sind
        sei, seiest, sei, seien, seiet, seien
        war, warst, war, waren, wart, waren
        wäre, wärest, wäre, wären, wäret, wären""",
    "können": """
        können, könnend, gekonnt
        kann, kannst, kann, können, könnt, können
        könne, könnest, könne, können, könnet, können
        konnte, konntest, konnte, konnten, konntet, konnten
        könnte, könntest, könnte, könnten, könntet, könnten""",
    "wissen": """
        wissen, wissend, gewusst
        wisse, wisst
        weiß, weißt, weiß, wissen, wisst, wissen
        wisse, wissest, wisse, wissen, wisset, wissen
        wusste, wusstest, wusste, wussten, wusstet, wussten
        wüsste, wüsstest, wüsste, wüssten, wüsstet, wüssten""",
    "ankommen": """
        ankommen, ankommend, angekommen
        komm an, kommt an
        komme an, kommst an, kommt an, kommen an, kommt an, kommen an
        komme an, kommest an, komme an, kommen an, kommet an, kommen an
        kam an, kamst an, kam an, kamen an, kamt an, kamen an
        käme an, kämest an, käme an, kämen an, kämet an, kämen an""",
    "arbeiten": """
        arbeiten, arbeitend, gearbeitet
        arbeite, arbeitet
        arbeite, arbeitest, arbeitet, arbeiten, arbeitet, arbeiten
        arbeite, arbeitest, arbeite, arbeiten, arbeitet, arbeiten
        arbeitete, arbeitetest, arbeitete, arbeiteten, arbeitetet, arbeiteten
        arbeitete, arbeitetest, arbeitete, arbeiteten, arbeitetet, arbeiteten""",
    "sammeln": """
        sammeln, sammelnd, gesammelt
        sammle, sammelt
        sammle, sammelst, sammelt, sammeln, sammelt, sammeln
        sammele, sammelest, sammele, sammeln, sammelet, sammeln
        sammelte, sammeltest, sammelte, sammelten, sammeltet, sammelten
        sammelte, sammeltest, sammelte, sammelten, sammeltet, sammelten""",
    "lesen": """
        lesen, lesend, gelesen
        lies, lest
        lese, liest, liest, lesen, lest, lesen
        lese, lesest, lese, lesen, leset, lesen
        las, last, las, lasen, last, lasen
        läse, läsest, läse, läsen, läset, läsen""",
    "einladen": """
        einladen, einladend, eingeladen
        lade ein, ladet ein
        lade ein, lädst ein, lädt ein, laden ein, ladet ein, laden ein
        lade ein, ladest ein, lade ein, laden ein, ladet ein, laden ein
        lud ein, ludest ein, lud ein, luden ein, ludet ein, luden ein
        lüde ein, lüdest ein, lüde ein, lüden ein, lüdet ein, lüden ein""",
    "tun": """
        tun, tuend, getan
        tu, tut
        tue, tust, tut, tun, tut, tun
        tue, tuest, tue, tuen, tuet, tuen
        tat, tatest, tat, taten, tatet, taten
        täte, tätest, täte, täten, tätet, täten""",
}

# Single cells where a rule of German decides; each would break under a rule that is almost right.
SINGLE_FORMS = [
    ("wandern", "V;IND;PRS;1;SG", "wandere"),
    ("atmen", "V;IND;PRS;2;PL", "atmet"),
    ("wünschen", "V;IND;PRS;2;SG", "wünschst"),
    ("gelten", "V;IND;PRS;2;SG", "giltst"),
    ("haben", "V;IMP;2;SG", "hab"),
    ("müssen", "V;IND;PRS;2;SG", "musst"),
    ("schließen", "V;IND;PST;2;SG", "schlosst"),
    ("anprobieren", "V.PTCP;PST", "anprobiert"),
]

FORMS = {(item.lemma, item.features.spelling): item.form for name in SPLITS for item in read_split(name)}


def cells_of(items: list[Item]) -> set[tuple[str, str]]:
    return {(item.lemma, item.features.spelling) for item in items}


@pytest.mark.parametrize("lemma", GOLDEN)
def test_forms_are_those_written_out_by_hand(lemma: str) -> None:
    written = [form.strip() for form in re.split(r"[,\n]", GOLDEN[lemma].strip())]
    cells = [cell for cell in CELLS if lemma not in MODALS or cell not in IMPERATIVES]
    by_hand = dict(zip(cells, written, strict=True))
    shipped = {cell: form for (own, cell), form in FORMS.items() if own == lemma}
    assert shipped
    assert shipped == {cell: by_hand[cell] for cell in shipped}


@pytest.mark.parametrize(("lemma", "cell", "form"), SINGLE_FORMS)
def test_single_form(lemma: str, cell: str, form: str) -> None:
    assert FORMS[lemma, cell] == form


def test_verbs_are_many_and_their_forms_are_words() -> None:
    assert len({lemma for lemma, _ in FORMS}) >= 150
    assert all(re.fullmatch("[a-zäöüß]+( [a-zäöüß]+)?", form) for form in FORMS.values())


def test_cells_are_those_of_the_shared_task(conll2017: Path) -> None:
    items = [item for split in ("train-high", "dev") for item in read_items(conll2017 / f"german-{split}")]
    theirs = {item.features.spelling for item in items if item.features.part_of_speech.startswith("V")}
    assert len(CELLS) == 29
    assert {cell for _, cell in FORMS} == set(CELLS) == theirs


def test_forms_agree_with_the_shared_task(conll2017: Path) -> None:
    met, disagreements = 0, {}
    for split in ("train-high", "dev"):
        for item in read_items(conll2017 / f"german-{split}"):
            place = (item.lemma, item.features.spelling)
            if place in FORMS:
                met += 1
                if FORMS[place] != item.form:
                    disagreements[place] = (FORMS[place], item.form)
    assert met >= 30
    assert not disagreements


def test_split_sizes() -> None:
    sizes = {name: len(read_split(name)) for name in SPLITS}
    assert sizes == {"train-low": 100, "train-medium": 1000, "dev": 300, "test": 300}


def test_no_cell_is_twice_in_a_split() -> None:
    for name in SPLITS:
        assert len(cells_of(read_split(name))) == len(read_split(name))


def test_low_is_within_medium_and_the_rest_is_disjoint() -> None:
    low, medium, dev, test = (cells_of(read_split(name)) for name in SPLITS)
    assert low < medium
    assert not medium & dev
    assert not medium & test
    assert not dev & test


def test_every_cell_is_trained_on() -> None:
    assert {item.features.spelling for item in read_split("train-low")} == set(CELLS)


def test_past_of_fliegen_is_asked_for_and_never_trained_on() -> None:
    """The demo shows it; no relative of the verb gives it away."""
    assert {lemma for lemma, _ in FORMS if lemma.endswith("fliegen")} == {"fliegen"}
    for item in read_split("train-medium"):
        assert item.lemma != "fliegen" or "PST" not in item.features.atoms
    assert ("fliegen", "V;IND;PST;3;SG") in cells_of(read_split("test"))
    assert FORMS["fliegen", "V;IND;PST;3;SG"] == "flog"


def test_a_split_is_a_plain_file_too() -> None:
    assert read_items(SHIPPED / "dev.tsv") == read_split("dev")


def test_an_unknown_split_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'train'.*train-low, train-medium, dev, test"):
        read_split("train")


def test_reading_is_light() -> None:
    check = "import sys, reinflect.data.german as g; g.read_split('dev'); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", check], check=True, capture_output=True, text=True).stdout
    assert not [heavy for heavy in ("torch", "numpy", "numba", "rich", "requests") if f"'{heavy}'" in loaded]
