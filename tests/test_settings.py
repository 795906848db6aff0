"""Settings: presets, single changes, and what is refused."""

import msgspec
import pytest

from reinflect.ensemble.strategies import PAPERS
from reinflect.errors import InputError
from reinflect.settings import OF_EACH_MODEL, PRESETS, Settings, alike, changed, preset_for
from reinflect.systems import SYSTEMS
from reinflect.systems.haem import HaemSettings
from reinflect.systems.symbols import RecurrentSettings, load_preset, parse_preset

PAPER = {
    "hacm": {
        "embedding": 100,
        "hidden": 200,
        "features": "embedded",
        "feature_embedding": 20,
        "dropout": 0.0,
        "copy_mixture": True,
    },
    "haem": {
        "embedding": 100,
        "tied": False,
        "hidden": 200,
        "history_hidden": 100,
        "history": True,
        "deletions": True,
        "features": "set",
        "feature_scale": 55.0,
        "dropout": 0.5,
        "dropout_kind": "variational",
        "dropout_on": ("written", "deleted"),
    },
}
BOTH = {
    "cell": "coupled",
    "optimiser": "adadelta",
    "rho": 0.95,
    "epsilon": 1e-6,
    "step": 1.0,
    "batch": 1,
    "loss": "mean",
    "clip": 5.0,
    "score_every": 1,
    "score_from": 0,
}
EPOCHS_AND_PATIENCE = {
    ("hacm", "low"): (50, 10),
    ("hacm", "medium"): (30, 10),
    ("hacm", "high"): (20, 10),
    ("haem", "low"): (60, 30),
    ("haem", "medium"): (60, 20),
    ("haem", "high"): (35, 10),
}


@pytest.mark.parametrize(("system", "setting"), EPOCHS_AND_PATIENCE)
def test_the_settings_of_the_2017_submission(system: str, setting: str) -> None:
    epochs, patience = EPOCHS_AND_PATIENCE[system, setting]
    expected = {**PAPER[system], **BOTH, "epochs": epochs, "patience": patience}
    found = load_preset(f"paper-{setting}")[system]
    assert {name: getattr(found, name) for name in expected} == expected


def test_what_is_known_of_the_soft_attention_of_2017() -> None:
    found = load_preset("paper-high")["soft"]
    assert (found.hidden, found.epochs) == (600, 100)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_load(name: str) -> None:
    preset = load_preset(name)
    assert tuple(preset) == (PAPERS if name.startswith("paper-") else tuple(SYSTEMS))
    assert changed(preset, []) == preset


@pytest.mark.parametrize("name", PRESETS)
def test_dropout_of_presets_has_an_effect(name: str) -> None:
    """A preset that drops only what its system does not have would say one thing and do another."""
    drops = {
        "hacm": {"encoder", "state"},
        "haem": {"encoder", "written", "deleted", "history", "state"},
        "soft": {"encoder", "written", "state"},
    }
    drops["imitation"] = drops["haem"]
    for system, own in load_preset(name).items():
        assert isinstance(own, RecurrentSettings)
        assert own.dropout == 0 or drops[system] & set(own.dropout_on)


@pytest.mark.parametrize(
    ("items", "name"),
    [(1, "low"), (100, "low"), (681, "medium"), (1000, "medium"), (4243, "high"), (10_000, "high")],
)
def test_the_preset_for_a_size(items: int, name: str) -> None:
    assert preset_for(items) == name


PLAIN = {name: system.settings() for name, system in SYSTEMS.items()}


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ("hidden=200", "hidden", 200),
        ("dropout=0", "dropout", 0.0),
        ("dropout=.3", "dropout", None),
        ("dropout=0.3", "dropout", 0.3),
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
    if value is None:
        with pytest.raises(InputError):
            changed(PLAIN, [change])
        return
    having = [own for own in changed(PLAIN, [change]).values() if hasattr(own, key)]
    assert len(having) == {"copy_mixture": 1}.get(key, len(PLAIN))
    for own in having:
        assert getattr(own, key) == value


def test_a_change_applies_to_the_systems_that_have_the_setting() -> None:
    found = changed(PLAIN, ["history_hidden=9", "attention=8"])
    assert isinstance(found["haem"], HaemSettings)
    assert found["haem"].history_hidden == 9
    assert found["soft"] != PLAIN["soft"]
    assert found["hacm"] == PLAIN["hacm"]
    with pytest.raises(InputError, match="'history_hidden'"):
        changed(PLAIN, ["hacm.history_hidden=9"])


def test_a_change_to_one_system() -> None:
    found = changed(PLAIN, ["haem.hidden=200", "hidden=50", "hacm.batch=9"])
    assert (found["hacm"].hidden, found["haem"].hidden) == (50, 50)  # the last word counts
    assert (found["hacm"].batch, found["haem"].batch) == (9, Settings().batch)
    assert changed(PLAIN, ["hidden=50", "haem.hidden=200"])["haem"].hidden == 200
    assert PLAIN["haem"] == HaemSettings()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("hiden=200", ["hiden", "hidden"]),
        ("copy_mixture=false", ["copy_mixture", "copy"]),
        ("haem.xyzzy=1", ["xyzzy", "embedding"]),
        ("hidden", ["'hidden'", "key=value"]),
        ("hard.hidden=1", ["hard.hidden", "haem"]),
        ("=3", ["''"]),
        ("hidden=many", ["hidden = 'many'", "expected a whole number, got a word"]),
        ("hidden=0", ["hidden", "1"]),
        ("hidden=-5", ["hidden", "1"]),
        ("hidden=100000", ["hidden", "4096"]),
        ("hidden=2.5", ["hidden = '2.5'", "a whole number"]),
        ("hidden=true", ["hidden", "a whole number"]),
        ("hidden=1979-05-27", ["hidden"]),
        ("dropout=1", ["dropout"]),
        ("dropout=1.0", ["dropout"]),
        ("dropout=-0.1", ["dropout"]),
        ("dropout=nan", ["dropout"]),
        ("rho=nan", ["rho"]),
        ("step=inf", ["step"]),
        ("step=nan", ["step"]),
        ("feature_scale=0", ["feature_scale"]),
        ("copy=maybe", ["copy", "true or false"]),
        ("cell=gru", ["cell", "gru", "the values are lstm, coupled"]),
        ("optimiser=sgd", ["optimiser", "sgd"]),
        ("dropout_on=everything", ["dropout_on", "everything", "the values are encoder, written"]),
        ("dropout_on=written,nothing", ["dropout_on", "nothing"]),
        ("score_from=-1", ["score_from"]),
        ("schedule=step", ["schedule", "'step'", "the values are constant, inverse-sqrt, linear, cosine"]),
        ("schedule=cosine", ["--set: found schedule = 'cosine' with decay = 0 and warmup = 0; set decay"]),
        ("warmup=-1", ["warmup"]),
        ("warmup=0.1", ["warmup", "a whole number"]),
        ("decay=1e6", ["decay", "a whole number"]),
        ("precision=fp8", ["precision", "the values are single, tf32"]),
    ],
)
def test_changes_that_are_refused(change: str, said: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        changed(PLAIN, [change])
    message = str(raised.value)
    assert "\n" not in message
    for word in said:
        assert word in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hacm]\nhiden = 3", ["my.toml [hacm]", "hiden", "hidden"]),
        ("[hard]\nhidden = 3", ["my.toml", "hard", "hacm"]),
        ("hidden = 3", ["my.toml", "hidden"]),
        ("[hacm\n", ["my.toml", "TOML"]),
        ("hacm = 3", ["my.toml", "hacm"]),
        ("[hacm]\nhidden = 3", ["my.toml", "no table [haem]", "--systems"]),
        ("[hacm]\n[haem]\nschedule = 'linear'\nwarmup = 9\ndecay = 9", ["my.toml [haem]: found schedule = 'linear'"]),
        ("[hacm]\n[haem]\ndropout = 'much'", ["my.toml [haem]", "dropout = 'much'", "expected a number"]),
    ],
)
def test_preset_files_that_are_refused(text: str, said: list[str]) -> None:
    with pytest.raises(InputError) as raised:
        parse_preset(text, "my.toml", ["hacm", "haem"])
    for word in said:
        assert word in str(raised.value)


def test_a_preset_file_has_the_settings_of_the_systems_asked_for() -> None:
    text = "[hacm]\nhidden = 3\n[haem]\nhistory_hidden = 4\n"
    assert parse_preset(text, "my.toml", ["haem"]) == {"haem": HaemSettings(history_hidden=4)}
    assert list(parse_preset(text, "my.toml", ["hacm", "haem"])) == ["hacm", "haem"]


def test_schedules_in_presets_and_changes() -> None:
    text = "[haem]\nschedule = 'cosine'\nwarmup = 400\ndecay = 10_000\nprecision = 'tf32'\n"
    preset = parse_preset(text, "my.toml", ["haem"])
    assert preset == {"haem": HaemSettings(schedule="cosine", warmup=400, decay=10_000, precision="tf32")}
    with pytest.raises(InputError, match=r"decay = 10000 and warmup = 10000; set decay"):
        changed(preset, ["warmup=10000"])
    found = changed(PLAIN, ["haem.schedule=linear", "haem.decay=5", "hacm.schedule=inverse-sqrt", "warmup=4"])
    assert [own.schedule for own in found.values()] == ["inverse-sqrt", "linear", *["constant"] * 2]
    assert [own.warmup for own in found.values()] == [4] * 4
    with pytest.raises(InputError, match="set decay"):
        msgspec.structs.replace(found["haem"], warmup=5)


def test_a_preset_of_some_systems() -> None:
    assert load_preset("low", ["soft"]) == {"soft": SYSTEMS["soft"].presets["low"]}


def test_an_unknown_preset() -> None:
    with pytest.raises(InputError, match=r"'hgih'.*low, medium, high"):
        load_preset("hgih")


OTHER: dict[str, object] = {
    "embedding": 7,
    "hidden": 7,
    "cell": "coupled",
    "forget_bias": 1.0,
    "features": "counts",
    "feature_embedding": 7,
    "tied": True,
    "copy_mixture": False,
    "history": False,
    "deletions": False,
    "history_hidden": 7,
    "attention": 7,
    "encoder_layers": 2,
    "label_smoothing": 0.7,
    "roll_in": 7.0,
    "dropout_kind": "plain",
    "dropout_on": ("state",),
    "optimiser": "adam",
    "precision": "tf32",
    "batch": 7,
}


def test_settings_are_alike_that_change_numbers_alone() -> None:
    """Every setting of every system is either in the list of those, or keeps models apart."""
    own: dict[str, object] = dict.fromkeys(OF_EACH_MODEL, 7)
    own |= {"dropout": 0.7, "rho": 0.7, "loss": "sum", "schedule": "inverse-sqrt"}
    met = set()
    for plain in PLAIN.values():
        for field in msgspec.structs.fields(plain):
            changes = {field.name: (own | OTHER)[field.name]}
            assert (alike(msgspec.structs.replace(plain, **changes)) == alike(plain)) == (field.name in OF_EACH_MODEL)
            met.add(field.name)
        assert alike(alike(msgspec.structs.replace(plain, dropout=0.2))) == alike(plain)
    assert met == {*own, *OTHER}


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "{a=" * 5000], ids=lambda value: value[:3])
def test_values_that_no_reader_of_toml_can_read(value: str) -> None:
    with pytest.raises(InputError, match="found hidden = ") as raised:
        changed(load_preset("low"), [f"hidden={value}"])
    assert len(str(raised.value)) < 500
    with pytest.raises(InputError, match="not a TOML file"):
        parse_preset(f"[haem]\nhidden = {value}", "own.toml", ["haem"])


def test_long_values_make_no_long_messages() -> None:
    with pytest.raises(InputError, match="found cell = 'xxx") as raised:
        changed(load_preset("low"), [f"cell={'x' * 5000}"])
    assert len(str(raised.value)) < 500
