"""Settings: presets, single changes, and what is refused."""

from pathlib import Path

import msgspec
import pytest

from reinflect.errors import InputError
from reinflect.settings import OF_EACH_MODEL, PRESETS, Settings, alike, changed, preset_for
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import HaemSettings
from reinflect.systems.kind import PAPERS
from reinflect.systems.symbols import RecurrentSettings, load_preset, parse_preset

HISTORY = {"history_hidden": 100, "history": True, "deletions": True, "tied": False}
DROPOUT = {"dropout": 0.5, "dropout_kind": "variational", "dropout_on": ("written", "deleted")}
PAPER = {
    "hacm": {"features": "embedded", "feature_embedding": 20, "dropout": 0.0, "copy_mixture": True},
    "haem": {"features": "set", "feature_scale": 55.0, **HISTORY, **DROPOUT},
}
BOTH = {"embedding": 100, "hidden": 200, "cell": "coupled", "batch": 1, "loss": "mean", "score_every": 1}
BOTH |= {"optimiser": "adadelta", "rho": 0.95, "epsilon": 1e-6, "step": 1.0, "clip": 5.0, "score_from": 0}
EPOCHS_AND_PATIENCE = {
    "hacm": {"low": (50, 10), "medium": (30, 10), "high": (20, 10)},
    "haem": {"low": (60, 30), "medium": (60, 20), "high": (35, 10)},
}


def test_the_settings_of_the_2017_submission() -> None:
    for system, by_setting in EPOCHS_AND_PATIENCE.items():
        for setting, (epochs, patience) in by_setting.items():
            preset = load_preset(f"paper-{setting}")
            expected = {**PAPER[system], **BOTH, "epochs": epochs, "patience": patience}
            assert {name: getattr(preset[system], name) for name in expected} == expected
    soft = load_preset("paper-high")["soft"]
    assert (soft.hidden, soft.epochs) == (600, 100)


DROPS = {"hacm": {"encoder", "state"}, "soft": {"encoder", "written", "state"}}
DROPS["haem"] = DROPS["imitation"] = {"encoder", "written", "deleted", "history", "state"}


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load_and_their_dropout_has_an_effect(name: str) -> None:
    """A preset that drops only what its system does not have would say one thing and do another."""
    preset = load_preset(name)
    assert tuple(preset) == (PAPERS if name.startswith("paper-") else tuple(SYSTEMS))
    assert changed(preset, []) == preset
    for system, settings in preset.items():
        assert isinstance(settings, RecurrentSettings)
        assert settings.dropout == 0 or DROPS[system] & set(settings.dropout_on)


def test_the_preset_for_a_size() -> None:
    sizes = {1: "low", 100: "low", 681: "medium", 1000: "medium", 4243: "high", 10_000: "high"}
    assert {items: preset_for(items) for items in sizes} == sizes


PLAIN = {name: system.settings() for name, system in SYSTEMS.items()}


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ("hidden=200", "hidden", 200),
        ("dropout=0", "dropout", 0.0),
        ("epsilon=1e-8", "epsilon", 1e-8),
        ("copy=false", "copy_mixture", False),
        ("cell=coupled", "cell", "coupled"),
        ('cell="coupled"', "cell", "coupled"),
        ("dropout_on=written,deleted", "dropout_on", ("written", "deleted")),
        ("dropout_on=encoder, state", "dropout_on", ("encoder", "state")),
        ("dropout_on=encoder", "dropout_on", ("encoder",)),
        ("dropout_on=", "dropout_on", ()),
        ('dropout_on=["state"]', "dropout_on", ("state",)),
        (" hidden = 7 ", "hidden", 7),
    ],
)
def test_single_changes(change: str, key: str, value: object) -> None:
    values = [getattr(settings, key) for settings in changed(PLAIN, [change]).values() if hasattr(settings, key)]
    assert values == [value] * {"copy_mixture": 1}.get(key, len(PLAIN))


def test_a_change_applies_to_one_system_or_those_that_have_it_and_the_last_counts() -> None:
    settings = changed(PLAIN, ["history_hidden=9", "attention=8"])
    assert settings["haem"] == HaemSettings(history_hidden=9)
    assert settings["soft"] != PLAIN["soft"]
    assert settings["hacm"] == PLAIN["hacm"]
    for changes, hidden in {
        ("haem.hidden=200", "hidden=50"): (50, 50),
        ("hidden=50", "haem.hidden=200"): (50, 200),
        ("hacm.hidden=9",): (9, Settings().hidden),
    }.items():
        settings = changed(PLAIN, changes)
        assert (settings["hacm"].hidden, settings["haem"].hidden) == hidden


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("hiden=200", ["hiden", "hidden"]),
        ("copy_mixture=false", ["copy_mixture", "copy"]),
        ("hacm.history_hidden=9", ["'history_hidden'"]),
        ("haem.xyzzy=1", ["xyzzy", "embedding"]),
        ("hidden", ["'hidden'", "key=value"]),
        ("hard.hidden=1", ["hard.hidden", "haem"]),
        ("=3", ["''"]),
        ("hidden=many", ["hidden = 'many'", "expected a whole number, got a word"]),
        *((f"hidden={value}", ["hidden"]) for value in ("0", "-5", "100000", "true", "1979-05-27")),
        ("hidden=2.5", ["hidden = '2.5'", "a whole number"]),
        *((f"dropout={value}", ["dropout"]) for value in ("1", "1.0", "-0.1", "nan", ".3")),
        *((change, [change.partition("=")[0]]) for change in ("rho=nan", "step=inf", "step=nan", "feature_scale=0")),
        ("copy=maybe", ["copy", "true or false"]),
        ("cell=gru", ["cell", "gru", "the values are lstm, coupled"]),
        ("dropout_on=everything", ["dropout_on", "everything", "the values are encoder, written"]),
        ("dropout_on=written,nothing", ["dropout_on", "nothing"]),
        ("schedule=step", ["schedule", "'step'", "the values are constant, inverse-sqrt, linear, cosine"]),
        ("schedule=cosine", ["--set: found schedule = 'cosine' with decay = 0 and warmup = 0; set decay"]),
        ("warmup=-1", ["warmup"]),
        ("decay=1e6", ["decay", "a whole number"]),
        *((f"hidden={value}", ["found hidden = "]) for value in ("[" * 5000, "9" * 5000, "{a=" * 5000)),
        (f"cell={'x' * 5000}", ["found cell = 'xxx"]),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_changes_that_are_refused(change: str, words: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        changed(PLAIN, [change])
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 500
    assert all(word in message for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[hacm]\nhiden = 3", ["my.toml [hacm]", "hiden", "hidden"]),
        ("[hard]\nhidden = 3", ["my.toml", "hard", "hacm"]),
        ("hidden = 3", ["my.toml", "hidden"]),
        ("[hacm\n", ["my.toml", "TOML"]),
        ("hacm = 3", ["my.toml", "hacm"]),
        ("[hacm]\nhidden = 3", ["my.toml", "no table [haem]", "--systems"]),
        ("[hacm]\n[haem]\nschedule = 'linear'\nwarmup = 9\ndecay = 9", ["my.toml [haem]: found schedule = 'linear'"]),
        ("[hacm]\n[haem]\ndropout = 'much'", ["my.toml [haem]", "dropout = 'much'", "expected a number"]),
        *((f"[haem]\nhidden = {value}", ["not a TOML file"]) for value in ("[" * 5000, "9" * 5000, "{a=" * 5000)),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_preset_files_that_are_refused(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        parse_preset(text, "my.toml", ["hacm", "haem"])
    assert all(word in str(raised.value) for word in words)


def test_a_preset_file_has_the_settings_of_some_systems(tmp_path: Path) -> None:
    text = "[hacm]\nhidden = 3\n[haem]\nhistory_hidden = 4\n"
    assert parse_preset(text, "my.toml", ["haem"]) == {"haem": HaemSettings(history_hidden=4)}
    assert list(parse_preset(text, "my.toml", ["hacm", "haem"])) == ["hacm", "haem"]
    (tmp_path / "my.toml").write_text(text)
    assert load_preset(str(tmp_path / "my.toml"), ["haem"]) == {"haem": HaemSettings(history_hidden=4)}
    assert load_preset("low", ["soft"]) == {"soft": SYSTEMS["soft"].presets["low"]}
    with pytest.raises(InputError, match="found the preset 'hgih'; did you mean high"):
        load_preset("hgih")


def test_schedules_in_presets_and_changes() -> None:
    text = "[haem]\nschedule = 'cosine'\nwarmup = 400\ndecay = 10_000\n"
    preset = parse_preset(text, "my.toml", ["haem"])
    assert preset == {"haem": HaemSettings(schedule="cosine", warmup=400, decay=10_000)}
    with pytest.raises(InputError, match=r"decay = 10000 and warmup = 10000; set decay"):
        changed(preset, ["warmup=10000"])
    settings = changed(PLAIN, ["haem.schedule=linear", "haem.decay=5", "warmup=4"])["haem"]
    with pytest.raises(InputError, match="set decay"):
        msgspec.structs.replace(settings, warmup=5)


SEVEN = "embedding hidden feature_embedding history_hidden attention roll_in batch".split()
APART: dict[str, object] = dict.fromkeys(SEVEN, 7)
APART |= {"cell": "coupled", "forget_bias": 1.0, "features": "counts", "tied": True, "copy_mixture": False}
APART |= {"history": False, "deletions": False, "encoder_layers": 2, "label_smoothing": 0.7, "dropout_kind": "plain"}
APART |= {"dropout_on": ("state",), "optimiser": "adam", "precision": "tf32"}


def test_settings_are_alike_that_change_numbers_alone() -> None:
    """Every setting of every system is either in the list of those, or keeps models apart."""
    numbers: dict[str, object] = dict.fromkeys(OF_EACH_MODEL, 7)
    numbers |= {"dropout": 0.7, "rho": 0.7, "loss": "sum", "schedule": "inverse-sqrt"}
    met = set()
    for plain in PLAIN.values():
        for field in msgspec.structs.fields(plain):
            change = {field.name: (numbers | APART)[field.name]}
            same = alike(msgspec.structs.replace(plain, **change)) == alike(plain)
            assert same == (field.name in OF_EACH_MODEL)
            met.add(field.name)
        assert alike(alike(msgspec.structs.replace(plain, dropout=0.2))) == alike(plain)
    assert met == {*numbers, *APART}
