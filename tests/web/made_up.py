"""An inflector with fixed rules, to test the server and the page without training."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.decode.trace import Kind, Trace, TraceStep
from reinflect.errors import InputError
from reinflect.inflector.answers import Answer, Cell
from reinflect.inflector.inflector import Inflector

VERBS = {
    **{f"V;IND;PRS;{cell}": ending for cell, ending in zip(
        ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL"), ("e", "st", "t", "en", "t", "en"), strict=True)},
    **{f"V;IND;PST;{cell}": ending for cell, ending in zip(
        ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL"), ("te", "test", "te", "ten", "tet", "ten"), strict=True)},
    "V;NFIN": "en",
    "V.PTCP;PRS": "end",
}  # fmt: skip
NOUNS = {"N;SG;NDEF": "", "N;PL;NDEF": "ים", "N;SG;DEF": "", "N;PL;DEF": "ים"}
MEMBERS = ("haem-smart-1", "hacm-naive-1", "soft-1")


@dataclass
class MadeUp:
    """Has what the server uses of an inflector; adds endings, with confidences that differ."""

    endings: dict[str, str]
    cut: str = ""
    """An ending that is removed from the lemma first."""
    prefix: dict[str, str] = field(default_factory=dict)
    alphabet: str = "abcdefghijklmnopqrstuvwxyzäöüß"
    threads: set[int] = field(default_factory=set)
    strategy: str = "run7"
    labels: Labels = NO_LABELS
    attested: tuple[Item, ...] = ()
    cells: tuple[str, ...] = ()
    source: None = None

    @property
    def members(self) -> tuple[Any, ...]:
        return tuple(SimpleNamespace(name=name) for name in MEMBERS)

    @property
    def voters(self) -> tuple[Any, ...]:
        return self.members

    @property
    def bundles(self) -> tuple[str, ...]:
        return tuple(self.endings)

    def usual_bundles(self) -> list[str]:
        return list(self.endings)

    @property
    def bundle_counts(self) -> dict[str, int]:
        return {features: 40 - place for place, features in enumerate(self.endings)}

    @property
    def atoms(self) -> tuple[str, ...]:
        return tuple(sorted({atom for features in self.endings for atom in Bundle(features).atoms}))

    @property
    def characters(self) -> tuple[str, ...]:
        return tuple(self.alphabet)

    @property
    def card(self) -> dict[str, Any]:
        members = [{"name": name, "dev_accuracy": 80.0, "votes": True} for name in MEMBERS]
        return {
            "strategy": self.strategy,
            "voters": list(MEMBERS),
            "members": members,
            "parameters": 1000,
            "training": None,
            "confidence": None,
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        return [
            (atom, [known for known in self.atoms if set(known) == set(atom)])
            for atom in dict.fromkeys(Bundle(features).atoms)
            if atom not in self.atoms
        ]

    def features_of(self, text: str) -> str:
        return self.labels.to_features(self.labels.spelled(text, self.atoms))

    def nearest_bundles(self, features: str) -> list[str]:
        known = set(Bundle(features).atoms) <= set(self.atoms) and features not in self.endings
        return [own for own in self.endings if own.startswith(features[:5])][:2] if known else []

    def answers(self, items: Sequence[Item | tuple[str, str]], *, attested: bool = False) -> list[Answer]:
        self.threads.add(threading.get_ident())
        return [own[0] for own in self.nbest_many(items, 1, attested=attested)]

    def nbest_many(
        self, items: Sequence[Item | tuple[str, str]], n: int = 5, *, attested: bool = False
    ) -> list[list[Answer]]:
        found = []
        for item in items:
            lemma, features = (item.lemma, str(item.features)) if isinstance(item, Item) else item
            known = [
                item.form
                for item in self.attested
                if attested and (item.lemma, str(item.features)) == (lemma, features)
            ]
            others = [answer for answer in self.nbest(lemma, features, n) if answer.form not in known]
            found.append([*(Answer(form, None, 1, 3, None, attested=True) for form in known), *others][:n])
        return found

    def nbest(self, lemma: str, features: str, n: int = 5) -> list[Answer]:
        self.threads.add(threading.get_ident())
        if lemma == "kaputt":
            raise RuntimeError("broken on purpose")
        stem = lemma.removesuffix(self.cut)
        best = self.prefix.get(features, "") + stem + self.endings.get(features, "")
        sure = 0.99 - 0.06 * (sum(map(ord, lemma + features)) % 15)
        forms = dict.fromkeys([best, f"ge{stem}t", stem, f"{stem}t", lemma, f"{lemma}e"])
        answers = []
        for place, form in enumerate(forms):
            share = sure if place == 0 else (1 - sure) / 2**place
            answers.append(Answer(form, share, max(0, 3 - place), 3, math.log(share)))
        return answers[:n]

    def paradigm(self, lemma: str, bundles: Sequence[str] | None = None) -> list[Cell]:
        chosen = self.bundles if bundles is None else bundles
        found = self.answers([(lemma, features) for features in chosen], attested=True)
        return [Cell(features, answer) for features, answer in zip(chosen, found, strict=True)]

    def trace(self, lemma: str, features: str | Bundle, member: str | None = None) -> Trace:
        features = str(features)
        name = member or MEMBERS[0]
        if name not in MEMBERS:
            raise InputError(f"there is no member {name}", f"choose from {', '.join(MEMBERS)}")
        copies, written = lemma.removesuffix(self.cut), self.endings.get(features, "")
        mixes, soft = name.startswith("hacm"), name.startswith("soft")
        edged = ("<s>", *lemma, "</s>", *(Bundle(features).atoms if soft else ()))
        source = tuple(lemma) if name.startswith("haem") else edged
        steps: list[TraceStep] = []

        def step(action: str, kind: Kind, position: int, wrote: str, probability: float) -> None:
            so_far = (steps[-1].form_so_far if steps else "") + wrote
            rest = (("DELETE", (1 - probability) / 2), ("e", (1 - probability) / 3))
            gate = 1 - probability if mixes else None
            attention = tuple(0.9 if place == position + 1 else 0.01 for place in range(len(source))) if soft else None
            steps.append(TraceStep(action, kind, position, wrote, so_far, probability, gate, rest, attention))

        for letter in self.prefix.get(features, ""):
            step(letter, "write", -1 if mixes else 0, letter, 0.9)
        for position, letter in enumerate(copies):
            step("COPY", "copy", position, letter, 0.97 - 0.03 * position)
        for position in range(len(copies), len(lemma)):
            step("DELETE", "delete", position, "", 0.8)
        for letter in written:
            step(letter, "write", len(lemma), letter, 0.7)
        step("STOP", "stop", len(lemma), "", 0.99)
        return Trace(name, name.split("-")[0], lemma, features, steps[-1].form_so_far, source, tuple(steps))


def german() -> Inflector:
    attested = (Item("sehen", Bundle("V;IND;PST;1;SG"), "sah"),)
    return cast(Inflector, MadeUp(VERBS, cut="en", labels=Labels((("participle", "V.PTCP;PRS"),)), attested=attested))


def hebrew() -> Inflector:
    letters = "אבגדהוזחטיכלמנסעפצקרשתךםןףץ" + "ְִֵֶַָֹּׁ"
    definite = {features: "ה" for features in NOUNS if "NDEF" not in features}
    return cast(Inflector, MadeUp(NOUNS, prefix=definite, alphabet=letters))
