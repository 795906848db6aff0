"""A start from other models: which ones, how much of them, and how models with and without it vote."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench.start import ALONE, ISOLATES, groups, main
from click.testing import Result

import reinflect as library
from reinflect.data.catalog import find
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import add_model
from reinflect.inflector.start import (
    AUTO,
    LONGEST,
    Relative,
    Start,
    Startable,
    best_few,
    find_starts,
    relatives,
    variant_of,
)
from reinflect.inflector.train import Plan, train_inflector
from reinflect.learn.lesson import Lesson, ModelSpec, Preparation, plain_lessons
from reinflect.run.packs import by_key, matched, read_results
from reinflect.run.resources import Resources, Watcher
from reinflect.settings import Settings, changed
from reinflect.systems.symbols import load_preset
from tests.fuzz import tiny_models
from tests.inflector.test_file import made
from tests.learn.tiny import language, small
from tests.report.pages import Page

Reinflect = Callable[..., Result]

CELLS = "PRS;1;SG PRS;2;SG PRS;3;SG PST;1;SG PST;2;SG PST;3;SG".split()
GERMAN, SPANISH = "e st t te test te".split(), "o as a é aste ó".split()
STEMS = "lob sag leg frag mach koch such spiel hol lern".split()
GREEK = str.maketrans("abcdefghiklmnoprstuvxy", "αβψδεφγηικλμνοπρστθωχυ")
CHANGES = "hidden=40 embedding=20 history_hidden=20 epochs=24 score_from=0 score_every=8 batch=4".split()


def verbs(stems: Sequence[str], endings: Sequence[str], infinitive: str = "en") -> list[Item]:
    cells = zip(CELLS, endings, strict=True)
    return [Item(stem + infinitive, Bundle(f"V;IND;{cell}"), stem + own) for cell, own in cells for stem in stems]


RELATED = verbs(STEMS, GERMAN)
UNRELATED = verbs(STEMS, SPANISH, "ar")
WRITTEN_OTHERWISE = [
    Item(item.lemma.translate(GREEK), item.features, item.form.translate(GREEK)) for item in verbs(STEMS, GERMAN)
]
OWN = verbs(["sorg", "raub", "plag", "zwick"], ["e", "st", "t", "te", "tes", "te"])
"""A dialect of RELATED."""


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pocket models that have learnt something."""
    folder = tmp_path_factory.mktemp("languages")
    given = {"related": RELATED, "unrelated": UNRELATED, "written-otherwise": WRITTEN_OTHERWISE}
    for name, items in given.items():
        epochs = 1 if name == "written-otherwise" else 24
        settings = changed(load_preset("low", ["haem"]), [*CHANGES, "dropout=0", f"epochs={epochs}"])
        plan = Plan(settings=settings, systems=["haem"], alignments=["naive"], seeds=1)
        train_inflector(items, items[:12], plan, out=folder / "model", force=True)
        add_model(folder / "models", folder / "model", name, items[:12], command="made for a test")
    return folder / "models"


@pytest.fixture
def installed(languages: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("REINFLECT_MODELS", str(languages))
    monkeypatch.chdir(tmp_path)
    return languages


def tiny_start(*systems: str, name: str = "tiny") -> Start:
    return Start(name, tuple(own for own in tiny_models.inflector().members if own.system in systems))


def lessons(seeds: int) -> list[Lesson]:
    return plain_lessons(tiny_models.ITEMS[:3], tiny_models.ITEMS[:1], seeds)


def specs(seeds: int, *starts: Start, **more: Any) -> list[ModelSpec]:
    settings: dict[str, Settings] = {"hacm": small("hacm"), "haem": small("haem")}
    plan = Plan(settings=settings, seeds=seeds, starts=starts, **more)
    found = plan.specs(lessons(seeds), Preparation.of({}, plan.alignments))
    assert plan.models == len(found)
    return found


def test_models_with_and_without_a_start_are_kinds_side_by_side() -> None:
    one, two = tiny_start("haem", name="polish"), tiny_start("soft", "haem", name="lower-sorbian")
    two = replace(two, members=tuple(replace(own, restarts=9, seed=7) for own in two.members))
    found = specs(3, one, two)
    assert Counter(spec.kind for spec in found) == dict.fromkeys(
        (
            *("hacm-naive", "hacm-smart", "haem-naive", "haem-smart"),
            *("haem-naive+from-polish+lower-sorbian", "haem-smart+from-polish+lower-sorbian"),
        ),
        3,
    )
    for spec in found:
        assert (spec.start is not None) == ("from" in spec.kind)
    # Seeds take turns, so that there are never more than twice the models.
    started = [spec.start and spec.start.seed for spec in found if spec.kind.startswith("haem-naive+")]
    assert started == [one.members[0].seed, 7, one.members[0].seed]
    assert len({spec.digest for spec in found}) == len(found)


def test_a_start_has_the_alignment_of_the_models_if_it_can() -> None:
    (own,) = tiny_start("haem").members
    naive = replace(own, alignment="naive", dev_accuracy=1.0)
    assert Start("x", (own, naive)).member("haem", "naive") is naive
    assert Start("x", (own, naive)).member("haem", "smart") is own
    assert Start("x", (own,)).member("haem", "naive") is own
    assert Start("x", (own,)).member("hacm", "naive") is None


def test_the_name_of_a_kind_is_part_of_file_names(tmp_path: Path) -> None:
    path = tmp_path / "my model, 2nd (š).reinflect"
    path.write_bytes(tiny_models.model_file())
    start = Start.of(path)
    assert start.name == "my-model-2nd-š"
    assert Start.of(Inflector.load(path)).name == start.name
    assert Start.of(tiny_models.inflector()).name == "model"
    assert variant_of([start]) == "from-my-model-2nd-š"
    assert len(variant_of([start] * 9)) == LONGEST


def test_a_language_is_ranked_by_what_it_knows_of_the_items(languages: Path) -> None:
    names = ("written-otherwise", "unrelated", "related")
    starts = [Start.of(languages / f"{name}.reinflect") for name in names]
    found = relatives(OWN, starts, ["hacm", "haem"])
    assert [one.start.name for one in found] == ["related", "unrelated"]
    assert found[0].right > 50 > found[1].right
    assert found[0].edits < found[1].edits
    assert found[0].known == "15 of 17 characters and 8 of 8 features"
    assert relatives(OWN, starts, ["hacm"]) == []
    other_features = [replace(item, features=Bundle("A;B;C;D;E;F;G;H;V")) for item in OWN]
    assert relatives(other_features, starts, ["haem"]) == []
    alone = relatives(OWN, starts[2:], ["haem"])
    assert (alone[0].right, alone[0].edits) == (found[0].right, found[0].edits), "whichever others are asked"


def test_a_good_relative_is_not_mixed_with_bad_ones() -> None:
    def few(*right: float) -> list[float]:
        return [one.right for one in best_few([Relative(tiny_start("haem"), own, 1.0, "") for own in right])]

    assert few(40, 30, 20, 20) == [40, 30, 20]
    assert few(40, 30, 19) == [40, 30]
    assert few(40, 3, 3) == [40]
    assert few(4, 3, 2.9) == [4, 3]
    assert few(2, 2) == few(0, 0, 0, 0) == []
    assert few() == []


@pytest.mark.usefixtures("installed")
def test_auto_says_why_it_chose_a_language() -> None:
    said: list[str] = []
    starts = find_starts([AUTO, "related"], OWN, ["haem"], said.append)
    assert [start.name for start in starts] == ["related"]
    assert said[0] == "note: 2 of 3 pocket models know enough characters and features of your items"
    known = r"15 of 17 characters and 8 of 8 features known; a start"
    assert re.fullmatch(rf"note: related: \d+ % of your forms right, {known}", said[1])
    assert re.fullmatch(r"note: unrelated: .* known; not used", said[2])
    assert len(said) == 3
    said.clear()
    assert find_starts([AUTO], [Item("你", Bundle("V"), "好")], ["haem"], said.append) == ()
    assert said == [
        "note: 0 of 3 pocket models know enough characters and features of your items; no model starts from them"
    ]


@pytest.mark.parametrize("asked", [AUTO, "related"])
@pytest.mark.usefixtures("installed")
def test_a_system_that_is_not_trained_is_named(asked: str) -> None:
    with pytest.raises(InputError) as error:
        find_starts([asked], OWN, ["hacm", "soft"])
    assert str(error.value) == (
        "related has models of haem, but none of these is trained; train haem too (--systems), or start from another "
        "model"
    )


@pytest.mark.usefixtures("no_pocket")
def test_auto_without_pocket_models_says_how_to_install_them() -> None:
    with pytest.raises(InputError, match=r"none are installed; install them: pip install --upgrade reinflect-models$"):
        find_starts([AUTO], OWN, ["haem"])


@pytest.mark.usefixtures("installed")
def test_a_model_that_starts_from_itself_gives_the_same_answers_at_first() -> None:
    own = library.load("related")
    still = changed({"haem": own.members[0].settings}, ["epochs=1", "step=1e-9", "score_from=0"])
    plan = Plan(settings=still, systems=["haem"], alignments=["naive"], seeds=1, starts=[Start.of(own)])
    found = train_inflector(RELATED, OWN, plan).inflector
    said = dict(zip([member.variant for member in found.members], found.member_forms(OWN), strict=True))
    assert said["from-related"] == own.inflect_many(OWN)
    assert said[""] != said["from-related"]
    assert found.voters[0].variant == "from-related", "it is better on held-out items"


class Said(Watcher):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_what_other_sizes_leave_is_said_and_nothing_is_refused(languages: Path) -> None:
    start, watcher = Start.of(languages / "related.reinflect"), Said()
    quick = [*CHANGES, "epochs=1", "score_from=0"]

    def train(*changes: str) -> None:
        plan = Plan(
            settings=changed(load_preset("low", ["haem"]), [*quick, *changes]),
            systems=["haem"],
            alignments=["naive"],
            seeds=1,
            starts=[start],
        )
        train_inflector(OWN, OWN[:4], plan, Resources(watcher=watcher))

    train()
    (whole,) = watcher.notes
    assert re.fullmatch(r"note: haem models take over 9\d\.\d % of their numbers from related", whole)
    watcher.notes.clear()
    train("hidden=6")
    (less,) = watcher.notes
    assert re.search(r"over \d+\.\d % .*from related \(hidden is 40 there and 6 here; --set changes it\)$", less)
    with pytest.raises(InputError) as error:
        train("hidden=6", "embedding=5", "history_hidden=4")
    assert str(error.value).startswith("nothing of related fits the haem models (embedding is 20 there and 5 here, ")


def test_a_start_that_has_seen_what_is_held_out_is_named(languages: Path) -> None:
    settings = changed(load_preset("low", ["haem"]), [*CHANGES, "epochs=1"])
    start = Start.of(languages / "related.reinflect")

    def notes(train: Sequence[Item], dev: Sequence[Item] | None) -> list[str]:
        plan, watcher = Plan(settings=settings, systems=["haem"], alignments=["naive"], seeds=1, starts=[start]), Said()
        train_inflector(train, dev, plan, Resources(watcher=watcher))
        return [note for note in watcher.notes if "has seen" in note]

    (whole,) = notes(RELATED, None)
    assert whole.startswith(f"note: related has seen {len(RELATED)} of the held-out or dev items: the accuracies below")
    (some,) = notes(OWN, [*OWN[:3], *RELATED[:2]])
    assert "has seen 2 of" in some
    assert notes(OWN, None) == []
    assert notes(RELATED, OWN) == []


def test_a_model_that_was_trained_before_its_start_was_renamed_has_the_new_name() -> None:
    (before, after) = (specs(1, tiny_start("haem", name=name), systems=["haem"])[-1] for name in ("old", "new"))
    (model,) = tiny_start("haem").members
    trained = replace(model, key=before.digest, variant=before.variant)
    assert matched([after], {before.digest: trained})[after.digest].kind == "haem-smart+from-new"


def test_the_families_of_the_benchmark_are_those_of_its_languages() -> None:
    assert groups().keys() == set(find("conll2017").languages)
    by_group = Counter(groups().values())
    assert by_group["Slavic"] == 10
    assert {name for name, group in groups().items() if group == ISOLATES} >= {"basque", "haida", "turkish", "navajo"}
    assert {name for name, group in groups().items() if group == ALONE} >= {"albanian", "hungarian"}


def test_the_benchmark_compares_ways_to_start(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for name in ("german", "greek", "turkish"):
        items = language(name)
        write_items(data / f"{name}-dev", items[::2])
        for setting in ("low", "medium"):
            write_items(data / f"{name}-train-{setting}", items[1::2])
    tiny = [*CHANGES, "epochs=2", "score_from=0"]
    monkeypatch.setattr("bench.start.SMALL", tiny)
    monkeypatch.setattr("bench.start.DEV_EVERY", 1)
    given = ["--data", data, "--models", installed, "--out", out, "--languages", "german", "--relatives", 1]
    more = ["--multilingual", "--systems", "haem", "--alignments", "naive", "--seeds", 2, "--set", *tiny]
    monkeypatch.setattr("sys.argv", ["start", *map(str, given + more)])
    main()
    found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(found) == ["best-1", "multilingual"]
    models = by_key(read_results(out / "multilingual" / "packs")).values()
    assert {model.language for model in models} == {"multilingual-0"}
    assert len(by_key(read_results(out / "packs"))) == 2 * 3
    printed = capsys.readouterr().out
    assert "Start: best-1" in printed
    assert "Start: multilingual" in printed


WORK = ["--systems", "haem", "--alignments", "naive", "--seeds", "2", "--workers", "1", "--device", "cpu"]


def test_the_command_trains_both_and_the_file_says_so(installed: Path, reinflect: Reinflect) -> None:
    write_items("own.tsv", OWN)
    changes = [word for change in [*CHANGES, "epochs=4", "score_from=0"] for word in ("--set", change)]
    work = ["train", "--train", "own.tsv", *WORK, *changes, "--from", "auto", "--from", "unrelated"]
    ran = reinflect(*work, "--out", "one.reinflect", "--verbose")
    assert ran.exit_code == 0, ran.stderr
    assert "training 4 models on 24 items" in ran.stderr
    assert "note: related: " in ran.stderr
    names = {f"haem-naive{variant}-{seed}" for variant in ("", "+from-related+unrelated") for seed in (1, 2)}
    inflector = Inflector.load("one.reinflect")
    assert {member.name for member in inflector.members} == names
    assert all(name in ran.stdout for name in names)
    assert {member["variant"] for member in inflector.card["members"]} == {"", "from-related+unrelated"}
    starts = [Start.of(installed / f"{name}.reinflect") for name in ("related", "unrelated")]
    assert inflector.card["training"]["starts"] == {own.members[0].fingerprint: own.name for own in starts}
    described = " ".join(reinflect("info", "one.reinflect").stdout.split())
    mark = starts[0].members[0].fingerprint[:12]
    assert f"Models with “+from” in their names started from related (SHA-256 of its numbers {mark}…), " in described
    reinflect("report", "one.reinflect", "--out", "page.html")
    assert "HAEM, naive, from-related+unrelated" in Page(Path("page.html").read_text(encoding="utf-8")).text

    again = reinflect(*work, "--out", "two.reinflect")
    assert again.exit_code == 0, again.stderr
    assert Path("two.reinflect").read_bytes() == Path("one.reinflect").read_bytes()


@pytest.mark.usefixtures("installed")
def test_the_library_has_the_same_start() -> None:
    work: dict[str, Any] = {"systems": ["haem"], "alignments": ["naive"], "seeds": 1}
    quick = [*CHANGES, "epochs=1", "score_from=0"]
    own = library.load("related")
    given: list[Startable | list[Startable]] = [own, "related", [own, "unrelated"], []]
    kinds = [
        {member.variant for member in library.train(OWN, OWN[:6], changes=quick, start=start, **work).members}
        for start in given
    ]
    assert kinds == [{"", "from-related"}, {"", "from-related"}, {"", "from-related+unrelated"}, {""}]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("relate", "there is no pocket model 'relate'; did you mean related or unrelated?"),
        ("own.tsv", "own.tsv: not a valid reinflect model"),
        ("gone.reinflect", "gone.reinflect: there is no such file"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_what_is_no_model_is_one_line(reinflect: Reinflect, name: str, says: str) -> None:
    write_items("own.tsv", OWN)
    ran = reinflect("train", "--train", "own.tsv", "--out", "x.reinflect", *WORK, "--from", name)
    assert ran.exit_code == 2
    assert says in ran.stderr.splitlines()[-1]
    assert not list(Path().glob("x.reinflect*"))


def test_a_file_keeps_the_variant_and_one_without_it_loads(tmp_path: Path) -> None:
    def set_apart(said: dict[str, Any], variant: str = "from-x") -> None:
        said["members"][0]["variant"] = variant
        said["choices"] = {}
        said["strategy"] = "vote"

    def without(said: dict[str, Any]) -> None:
        for member in said["members"]:
            del member["variant"]

    path = made(tmp_path / "one", lambda said, _: set_apart(said))
    names = [member.name for member in Inflector.load(path).members]
    assert "+from-x-" in json.dumps(names)
    Inflector.load(path).save(tmp_path / "again")
    assert [member.name for member in Inflector.load(tmp_path / "again").members] == names
    old = Inflector.load(made(tmp_path / "old", lambda said, _: without(said)))
    assert {member.variant for member in old.members} == {""}
    with pytest.raises(InputError, match="not a valid reinflect model"):
        Inflector.load(made(tmp_path / "bad", lambda said, _: set_apart(said, "../\x1b[2J")))
