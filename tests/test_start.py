"""A start from other models: which ones, how much of them, and how models with and without it vote."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reinflect as library
from reinflect.assemble import Keep
from reinflect.data.features import Bundle
from reinflect.data.items import Item, write_items
from reinflect.decode.search import Predictions
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector
from reinflect.inflector.pocket import add_model
from reinflect.learn.lesson import LONGEST, ModelSpec, Start, lessons_of, specs, started
from reinflect.run.packs import PackResult
from reinflect.run.store import Store
from reinflect.run.watch import Resources
from reinflect.start import AUTO, Relative, Startable, best_few, find_starts, relatives, start_from
from reinflect.systems.kind import Kind, Wish, make_plan
from reinflect.train import train_model
from tests.cli import Reinflect, as_options, succeeded
from tests.fuzz import tiny_models
from tests.inflector.test_file import made
from tests.report.pages import Page
from tests.test_train import Listener

CELLS = "PRS;1;SG PRS;2;SG PRS;3;SG PST;1;SG PST;2;SG PST;3;SG".split()
GERMAN, SPANISH = "e st t te test te".split(), "o as a é aste ó".split()
STEMS = "lob sag leg frag mach koch such spiel hol lern".split()
GREEK = str.maketrans("abcdefghiklmnoprstuvxy", "αβψδεφγηικλμνοπρστθωχυ")
CHANGES = "hidden=40 embedding=20 history_hidden=20 epochs=24 score_from=0 score_every=8 batch=4".split()
QUICK = [*CHANGES, "epochs=1"]


def verbs(stems: Sequence[str], endings: Sequence[str], infinitive: str = "en") -> list[Item]:
    cells = zip(CELLS, endings, strict=True)
    return [Item(stem + infinitive, Bundle(f"V;IND;{cell}"), stem + ending) for cell, ending in cells for stem in stems]


RELATED = verbs(STEMS, GERMAN)
UNRELATED = verbs(STEMS, SPANISH, "ar")
WRITTEN_OTHERWISE = [Item(item.lemma.translate(GREEK), item.features, item.form.translate(GREEK)) for item in RELATED]
OWN = verbs(["sorg", "raub", "plag", "zwick"], ["e", "st", "t", "te", "tes", "te"])
"""A dialect of RELATED."""


def trained(
    items: Sequence[Item], dev: Sequence[Item] | None, *changes: str, starts: Sequence[Startable] = (), **more: Any
) -> tuple[Inflector, list[str]]:
    """The inflector of one seed of haem-naive, and the notes about starts."""
    watcher, wish = Listener(), Wish(["haem-naive"], preset="low", changes=[*CHANGES, *changes], seeds=1, starts=starts)
    inflector = train_model(items, dev, wish, Keep(), Resources(watcher=watcher), **more).inflector
    return inflector, watcher.notes


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pocket models that have learnt something."""
    folder = tmp_path_factory.mktemp("languages")
    others = [("related", RELATED, 24), ("unrelated", UNRELATED, 24), ("written-otherwise", WRITTEN_OTHERWISE, 1)]
    for name, items, epochs in others:
        trained(items, items[:12], "dropout=0", f"epochs={epochs}", out=folder / "model")
        add_model(folder / "models", folder / "model", name, items[:12], command="made for a test")
    return folder / "models"


@pytest.fixture
def installed(languages: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("REINFLECT_MODELS", str(languages))
    monkeypatch.chdir(tmp_path)
    return languages


def tiny_start(*systems: str, name: str = "tiny") -> Start:
    return Start(name, tuple(member for member in tiny_models.inflector().members if member.system in systems))


def tiny_specs(seeds: int, *starts: Start, **wish: Any) -> list[ModelSpec]:
    plan = make_plan(Wish(preset="low", seeds=seeds, **wish), 3)
    return specs(plan, lessons_of(tiny_models.ITEMS[:3], tiny_models.ITEMS[:1], seeds), starts)


def test_models_with_and_without_a_start_are_kinds_side_by_side() -> None:
    polish, sorbian = tiny_start("haem", name="polish"), tiny_start("soft", "haem", name="lower-sorbian")
    sorbian = replace(sorbian, members=tuple(replace(member, restarts=9, seed=7) for member in sorbian.members))
    models = tiny_specs(3, polish, sorbian)
    label = "+from-polish+lower-sorbian"
    kinds = f"hacm-naive hacm-smart haem-naive haem-naive{label} haem-smart haem-smart{label}".split()
    assert [spec.name for spec in models] == [f"{kind}-{seed}" for kind in kinds for seed in (1, 2, 3)]
    assert all((spec.start is not None) == ("from" in spec.kind.label) for spec in models)
    # Seeds take turns, so that there are never more than twice the models.
    seeds = [spec.start and spec.start.seed for spec in models if str(spec.kind).startswith("haem-naive+")]
    assert seeds == [polish.members[0].seed, 7, polish.members[0].seed]
    assert len({spec.digest for spec in models}) == len(models)


def test_a_start_has_the_alignment_of_the_models_if_it_can() -> None:
    (smart,) = tiny_start("haem").members
    naive = replace(smart, alignment="naive", dev_accuracy=1.0)
    assert Start("x", (smart, naive)).member("haem", "naive") is naive
    assert Start("x", (smart, naive)).member("haem", "smart") is smart
    assert Start("x", (smart,)).member("haem", "naive") is smart
    assert Start("x", (smart,)).member("hacm", "naive") is None


def test_the_name_of_a_kind_is_part_of_file_names(tmp_path: Path) -> None:
    path = tmp_path / "my model, 2nd (š).reinflect"
    path.write_bytes(tiny_models.model_file())
    start = start_from(path)
    assert start.name == "my-model-2nd-š"
    assert start_from(Inflector.load(path)).name == start.name
    assert start_from(tiny_models.inflector()).name == "model"
    assert started(Kind("soft", label="made-up"), [start]).label == "made-up+from-my-model-2nd-š"
    assert len(started(Kind("soft"), [start] * 9).label) == LONGEST


def test_a_language_is_ranked_by_what_it_knows_of_the_items(languages: Path) -> None:
    names = ("written-otherwise", "unrelated", "related")
    starts = [start_from(languages / f"{name}.reinflect") for name in names]
    ranked = relatives(OWN, starts, ["hacm", "haem"])
    assert [relative.start.name for relative in ranked] == ["related", "unrelated"]
    assert ranked[0].right > 50 > ranked[1].right
    assert ranked[0].edits < ranked[1].edits
    assert ranked[0].shared == "15 of 17 characters and 8 of 8 features"
    assert relatives(OWN, starts, ["hacm"]) == []
    other_features = [replace(item, features=Bundle("A;B;C;D;E;F;G;H;V")) for item in OWN]
    assert relatives(other_features, starts, ["haem"]) == []


def test_a_good_relative_is_not_mixed_with_bad_ones() -> None:
    start, cases = tiny_start("haem"), {(40, 30, 20, 20): 3, (40, 30, 19): 2, (40, 3, 3): 1, (4, 3, 2.9): 2}
    for right, few in {**cases, (2, 2): 0, (0, 0, 0, 0): 0, (): 0}.items():
        ranked = [Relative(start, each, 1.0, "") for each in right]
        assert best_few(ranked) == ranked[:few]


@pytest.mark.usefixtures("installed")
def test_auto_says_why_it_chose_a_language() -> None:
    notes: list[str] = []
    starts = find_starts([AUTO, "related"], OWN, ["haem"], notes.append)
    assert [start.name for start in starts] == ["related"]
    assert notes[0] == "note: 2 of 3 pocket models know enough characters and features of your items"
    known = r"15 of 17 characters and 8 of 8 features known; a start"
    assert re.fullmatch(rf"note: related: \d+ % of your forms right, {known}", notes[1])
    assert re.fullmatch(r"note: unrelated: .* known; not used", notes[2])
    assert len(notes) == 3
    notes.clear()
    assert find_starts([AUTO], [Item("你", Bundle("V"), "好")], ["haem"], notes.append) == []
    known = "0 of 3 pocket models know enough characters and features of your items"
    assert notes == [f"note: {known}; no model starts from them"]


@pytest.mark.parametrize("wished", [AUTO, "related"])
@pytest.mark.usefixtures("installed")
def test_a_system_that_is_not_trained_is_named(wished: str) -> None:
    remedy = r"train haem too \(--systems\), or start from another model"
    with pytest.raises(InputError, match=rf"^related has models of haem, but none of these is trained; {remedy}$"):
        find_starts([wished], OWN, ["hacm", "soft"])


@pytest.mark.usefixtures("no_pocket")
def test_auto_without_pocket_models_says_how_to_install_them() -> None:
    with pytest.raises(InputError, match=r"none are installed; install them: pip install --upgrade reinflect-models$"):
        find_starts([AUTO], OWN, ["haem"])


@pytest.mark.usefixtures("installed")
def test_a_model_that_starts_from_itself_gives_the_same_answers_at_first() -> None:
    start = library.load("related")
    again, _ = trained(RELATED, OWN, "dropout=0", "epochs=1", "step=1e-9", starts=[start])
    forms = dict(zip([member.variant for member in again.members], again.member_forms(OWN), strict=True))
    assert forms["from-related"] == start.inflect_many(OWN)
    assert forms[""] != forms["from-related"]
    assert again.voters[0].variant == "from-related", "it is better on held-out items"


def test_what_other_sizes_leave_is_told_and_nothing_is_refused(languages: Path) -> None:
    start = languages / "related.reinflect"
    [whole] = trained(OWN, OWN[:4], "epochs=1", starts=[start])[1]
    assert re.fullmatch(r"note: haem models take over 9\d\.\d % of their numbers from related", whole)
    [less] = trained(OWN, OWN[:4], "epochs=1", "hidden=6", starts=[start])[1]
    assert re.search(r"over \d+\.\d % .*from related \(hidden is 40 there and 6 here; --set changes it\)$", less)
    with pytest.raises(InputError) as error:
        trained(OWN, OWN[:4], "hidden=6", "embedding=5", "history_hidden=4", starts=[start])
    assert str(error.value).startswith("nothing of related fits the haem models (embedding is 20 there and 5 here, ")


SEEN = [(RELATED, None, len(RELATED)), (OWN, [*OWN[:3], *RELATED[:2]], 2), (OWN, None, 0), (RELATED, OWN, 0)]


@pytest.mark.parametrize(("items", "dev", "seen"), SEEN)
def test_a_start_that_has_seen_what_is_held_out_is_named(
    items: Sequence[Item], dev: Sequence[Item] | None, seen: int, languages: Path
) -> None:
    notes = trained(items, dev, "epochs=1", starts=[languages / "related.reinflect"])[1]
    beginnings = [note.partition(": the")[0] for note in notes if "has seen" in note]
    assert beginnings == [f"note: related has seen {seen} of the held-out or dev items"] * bool(seen)


def test_a_model_that_was_trained_before_its_start_was_renamed_has_the_new_name() -> None:
    before, after = (tiny_specs(1, tiny_start("haem", name=name), systems=["haem"])[-1] for name in ("old", "new"))
    (model,) = tiny_start("haem").members
    stored = replace(model.with_predictions(Predictions([], [])), key=before.digest, variant=before.kind.label)
    store = Store.beside(Path("model"))
    store.results.append(PackResult("haem", [stored]))
    assert store.get([after])[after.digest].kind == "haem-smart+from-new"


WORK = ["--systems", "haem", "--alignments", "naive", "--seeds", "2", "--workers", "1", "--device", "cpu"]


def test_the_command_trains_both_and_the_file_says_so(installed: Path, reinflect: Reinflect) -> None:
    write_items("own.tsv", OWN)
    changes = as_options(" ".join([*CHANGES, "epochs=4"]))
    work = ["train", "--train", "own.tsv", *WORK, *changes, "--from", "auto", "--from", "unrelated"]
    ran = succeeded(reinflect(*work, "--out", "one.reinflect", "--verbose"))
    assert "training 4 models on 24 items" in ran.stderr
    assert "note: related: " in ran.stderr
    names = {f"haem-naive{label}-{seed}" for label in ("", "+from-related+unrelated") for seed in (1, 2)}
    inflector = Inflector.load("one.reinflect")
    assert {member.name for member in inflector.members} == names
    assert all(name in ran.stdout for name in names)
    assert {member["variant"] for member in inflector.card["members"]} == {"", "from-related+unrelated"}
    starts = [start_from(installed / f"{name}.reinflect") for name in ("related", "unrelated")]
    assert inflector.card["training"]["starts"] == {start.members[0].fingerprint: start.name for start in starts}
    described, digest = " ".join(reinflect("info", "one.reinflect").stdout.split()), starts[0].members[0].fingerprint
    beginning = f"started from related (SHA-256 of its numbers {digest[:12]}…), "
    assert f"Models with “+from” in their names {beginning}" in described
    reinflect("report", "one.reinflect", "--out", "page.html")
    assert "HAEM, naive, from-related+unrelated" in Page(Path("page.html").read_text(encoding="utf-8")).text

    succeeded(reinflect(*work, "--out", "two.reinflect"))
    assert Path("two.reinflect").read_bytes() == Path("one.reinflect").read_bytes()


@pytest.mark.usefixtures("installed")
def test_the_library_has_the_same_start() -> None:
    start = library.load("related")
    wished: list[Startable | list[Startable]] = [start, "related", [start, "unrelated"], []]
    more: dict[str, Any] = {"changes": QUICK, "kinds": ["haem-naive"], "seeds": 1}
    models = [library.train(OWN, OWN[:6], start=starts, **more) for starts in wished]
    labels = [{member.variant for member in model.members} for model in models]
    assert labels == [{"", "from-related"}, {"", "from-related"}, {"", "from-related+unrelated"}, {""}]


def test_a_file_keeps_the_variant_and_one_without_it_loads(tmp_path: Path) -> None:
    def set_apart(header: dict[str, Any], variant: str = "from-x") -> None:
        header["members"][0]["variant"] = variant
        header["choices"] = {}
        header["strategy"] = "vote"

    def without(header: dict[str, Any]) -> None:
        for member in header["members"]:
            del member["variant"]

    path = made(tmp_path / "one", lambda header, _: set_apart(header))
    names = [member.name for member in Inflector.load(path).members]
    assert "+from-x-" in " ".join(names)
    Inflector.load(path).save(tmp_path / "again")
    assert [member.name for member in Inflector.load(tmp_path / "again").members] == names
    old = Inflector.load(made(tmp_path / "old", lambda header, _: without(header)))
    assert {member.variant for member in old.members} == {""}
    with pytest.raises(InputError, match="not a valid reinflect model"):
        Inflector.load(made(tmp_path / "bad", lambda header, _: set_apart(header, "../\x1b[2J")))
