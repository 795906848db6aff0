"""A trace has the steps of greedy decoding."""

import math

import pytest

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.decode import greedy
from reinflect.decode.forms import ENDLESS_RUN
from reinflect.decode.traces import ALTERNATIVES, TraceStep, follow, source_of
from reinflect.settings import Settings
from reinflect.systems.system import System
from tests.decode.test_greedy import ITEMS, a_fleet, always, both, decoder_of, every, small, stack_of
from tests.systems.slow_hacm import SlowHacm
from tests.systems.slow_soft import SlowSoft
from tests.systems.small_fleets import HACM, HAEM, SOFT, SmallFleet


def traced(fleet: SmallFleet, item: Item) -> tuple[tuple[TraceStep, ...], bool]:
    choices = fleet.system.choices(fleet.languages[0].inventory)
    return follow(decoder_of(fleet), stack_of(fleet, [[item]]), choices)


@every
def test_a_trace_is_greedy_decoding_with_the_probabilities_of_the_slow_system(system: System, chosen: Settings) -> None:
    fleet = a_fleet(system, chosen, seed=1, models=1)
    expected = greedy.predict_all(decoder_of(fleet), stack_of(fleet, [ITEMS]), [0], 256)[0].forms
    for item, form in zip(ITEMS, expected, strict=True):
        steps, ended = traced(fleet, item)
        assert (steps[-1].form_so_far if ended else None) == form
        machine = fleet.machine(0, item.lemma, item.features)
        so_far = ""
        for number, step in enumerate(steps):
            choices = {name: probability.item() for name, probability in machine.choices().items()}
            best = max(choices, key=lambda name: choices[name])
            likeliest = sorted(choices.values(), reverse=True)[1 : ALTERNATIVES + 1]
            assert step.probability == pytest.approx(choices[best], rel=1e-6)
            assert [share for _, share in step.alternatives] == pytest.approx(likeliest, rel=1e-6, abs=1e-12)
            assert all(choices[name] == pytest.approx(share) for name, share in step.alternatives)
            if isinstance(machine, SlowSoft):
                assert step.attention == pytest.approx(machine.alpha.tolist())
                assert step.position == int(machine.alpha.argmax()) - 1
            else:
                assert step.attention is None
                assert step.position == machine.i - isinstance(machine, SlowHacm)
            written = machine.do(best)
            so_far += written
            assert (step.written, step.form_so_far) == (written, so_far)
            assert (step.kind == "stop") == (best == machine.end) == (ended and number == len(steps) - 1)
            assert step.action == ("COPY" if step.kind == "copy" and best not in machine_symbols(machine) else best)


def machine_symbols(machine: object) -> list[object]:
    """The symbols of the slow system; it copies an unknown character without a symbol."""
    return [*getattr(machine, "symbols", []), *getattr(machine, "actions", [])]


def test_the_gate_is_what_is_not_copied() -> None:
    """At `<s>`, which is never generated, all of its probability is copied."""
    fleet = a_fleet(HACM, small(HACM), models=1)
    for item in ITEMS:
        machine = fleet.machine(0, item.lemma, item.features)
        first = traced(fleet, item)[0][0]
        assert first.gate == pytest.approx(1 - machine.probabilities()["<s>"].item())


@pytest.mark.parametrize(("gate", "kind"), [(0.001, "copy"), (0.5, "copy"), (0.9, "write")])
def test_hacm_copies_where_more_is_copied_than_generated(gate: float, kind: str) -> None:
    """A model that first generates STEP or g, and after a STEP mixes generation in by the gate."""
    fleet = always(HACM, 3)
    model, letter = fleet.models[0], HACM.choices(fleet.languages[0].inventory).number("g")
    model["output.bias"][3], model["output.bias"][letter] = 20.1, 20.0
    model["embedding"][1, 0] = 1.0  # <s>
    model["copy.previous"][0] = 100.0
    model["copy.bias"][:] = math.log(gate / (1 - gate))
    fleet.refresh()
    first, second = traced(fleet, Item("g", Bundle("")))[0][:2]
    assert (first.action, first.kind, first.position) == ("STEP", "step", -1)
    assert first.gate == pytest.approx(1.0)
    assert (second.action, second.kind, second.position) == ("g", kind, 0)
    assert second.gate == pytest.approx(gate)


def test_unknown_letters_are_copied_for_certain() -> None:
    fleet = a_fleet(HACM, small(HACM), models=1)
    fleet.models[0]["output.bias"][3] = 25.0  # STEP wherever it is free to
    fleet.refresh()
    steps, _ = traced(fleet, Item("Ж漢", Bundle("V")))
    found = [(step.action, step.kind, step.position, step.written, step.probability, step.gate) for step in steps[1:3]]
    assert found == [("COPY", "copy", 0, "Ж", 1.0, 0.0), ("COPY", "copy", 1, "漢", 1.0, 0.0)]
    assert steps[1].alternatives == ()


def test_haem_copies_deletes_writes_and_stops() -> None:
    fleet = always(HAEM, 0)
    fleet.models[0]["output.bias"][2] = 30.0
    fleet.refresh()
    steps, ended = traced(fleet, Item("ge", Bundle("V")))
    assert ended
    assert [(step.action, step.kind, step.position) for step in steps] == [
        ("COPY", "copy", 0),
        ("COPY", "copy", 1),
        ("STOP", "stop", 2),
    ]
    fleet.models[0]["output.bias"][1] = 40.0
    fleet.refresh()
    steps, _ = traced(fleet, Item("ge", Bundle("V")))
    assert [step.kind for step in steps] == ["delete", "delete", "stop"]
    assert steps[0].alternatives[0][0] == "COPY"


@both
def test_a_trace_without_end_stops_where_decoding_gives_up(system: System) -> None:
    fleet = always(system, 3 if system is HAEM else 4)
    item = Item("ab", Bundle("V"))
    steps, ended = traced(fleet, item)
    assert not ended
    length = len(source_of(stack_of(fleet, [[item]])))
    assert len(steps) == ENDLESS_RUN + length
    assert {step.kind for step in steps} == {"write"}
    assert math.isclose(steps[-1].probability, 1.0, rel_tol=1e-3)


def test_the_source_is_what_the_encoder_reads() -> None:
    item = Item("a;Ж", Bundle("V;?;PST"))
    sources = {
        system.name: source_of(stack_of(a_fleet(system, small(system), models=1), [[item]]))
        for system in (HACM, HAEM, SOFT)
    }
    assert sources["haem"] == ("a", ";", "Ж")
    assert sources["hacm"] == ("<s>", "a", ";", "Ж", "</s>")
    assert sources["soft"] == ("<s>", "a", ";", "Ж", "</s>", "PST", "V")
