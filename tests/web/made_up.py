"""An inflector with fixed rules, to test the server and the page without training."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from reinflect.data.features import NO_LABELS, Bundle, Labels
from reinflect.data.items import Item
from reinflect.decode.trace import Kind, Trace, TraceStep
from reinflect.ensemble.confidence import Answer
from reinflect.errors import InputError
from reinflect.inflector.inflector import Inflector

PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
ENDINGS = ("e", "st", "t", "en", "t", "en", "te", "test", "te", "ten", "tet", "ten")
VERBS = {
    **dict(
        zip((f"V;IND;{tense};{person}" for tense, person in product(("PRS", "PST"), PERSONS)), ENDINGS, strict=True)
    ),
    "V;NFIN": "en",
    "V.PTCP;PRS": "end",
}
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
    labels: Labels = NO_LABELS
    attested: tuple[Item, ...] = ()
    threads: set[int] = field(default_factory=set)
    """Those that asked for forms."""
    members: ClassVar[Any] = tuple(SimpleNamespace(name=name) for name in MEMBERS)
    voters: ClassVar[Any] = members
    strategy: ClassVar[str] = "run7"
    cells: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[None] = None
    dictionary: ClassVar[None] = None

    def __post_init__(self) -> None:
        self.bundles, self.characters = tuple(self.endings), tuple(self.alphabet)
        self.bundle_counts = {features: 40 - number for number, features in enumerate(self.endings)}
        self.atoms = tuple(sorted({atom for features in self.endings for atom in Bundle(features).atoms}))
        self.card = {
            "strategy": self.strategy,
            "voters": list(MEMBERS),
            "members": [{"name": name, "dev_accuracy": 80.0, "votes": True} for name in MEMBERS],
            "parameters": 1000,
            "training": None,
            "confidence": None,
            "atoms": list(self.atoms),
            "characters": list(self.characters),
        }

    def usual_bundles(self, _lemma: str = "") -> list[str]:
        return list(self.endings)

    def unknown_features(self, features: str) -> list[tuple[str, list[str]]]:
        unknown = dict.fromkeys(atom for atom in Bundle(features).atoms if atom not in self.atoms)
        return [(atom, [near for near in self.atoms if set(near) == set(atom)]) for atom in unknown]

    def features_of(self, text: str) -> str:
        return self.labels.to_features(self.labels.spelled(text, self.atoms))

    def nearest_bundles(self, features: str) -> list[str]:
        new = set(Bundle(features).atoms) <= set(self.atoms) and features not in self.endings
        return [bundle for bundle in self.endings if bundle.startswith(features[:5])][:2] if new else []

    def answers(self, items: Sequence[Item], *, attested: bool = False) -> list[Answer]:
        return [answers[0] for answers in self.nbest_many(items, 1, attested=attested)]

    def nbest_many(self, items: Sequence[Item], n: int = 5, *, attested: bool = False) -> list[list[Answer]]:
        self.threads.add(threading.get_ident())
        return [self.nbest(item, n, self.attested if attested else ()) for item in items]

    def nbest(self, item: Item, n: int, attested: Sequence[Item]) -> list[Answer]:
        lemma, features = item.lemma, str(item.features)
        if lemma == "kaputt":
            raise RuntimeError("broken on purpose")
        stem = lemma.removesuffix(self.cut)
        best = self.prefix.get(features, "") + stem + self.endings.get(features, "")
        sure = 0.99 - 0.06 * (sum(map(ord, lemma + features)) % 15)
        right = [other.form for other in attested if (other.lemma, str(other.features)) == (lemma, features)]
        answers = [Answer(form, None, 1, 3, None, attested=True) for form in right]
        for rank, form in enumerate(dict.fromkeys([best, f"ge{stem}t", stem, f"{stem}t", lemma, f"{lemma}e"])):
            share = sure if rank == 0 else (1 - sure) / 2**rank
            answers += [Answer(form, share, max(0, 3 - rank), 3, math.log(share))] if form not in right else []
        return answers[:n]

    def trace(self, lemma: str, features: str | Bundle, member: str | None = None) -> Trace:
        features, name = str(features), member or MEMBERS[0]
        if name not in MEMBERS:
            raise InputError(f"there is no member {name}", f"choose from {', '.join(MEMBERS)}")
        stem, (system, *_) = lemma.removesuffix(self.cut), name.split("-")
        edged = ("<s>", *lemma, "</s>", *(Bundle(features).atoms if system == "soft" else ()))
        source, first = tuple(lemma) if system == "haem" else edged, -1 if system == "hacm" else 0
        actions: list[tuple[str, Kind, int, str, float]] = [
            *((letter, "write", first, letter, 0.9) for letter in self.prefix.get(features, "")),
            *(("COPY", "copy", number, letter, 0.97 - 0.03 * number) for number, letter in enumerate(stem)),
            *(("DELETE", "delete", number, "", 0.8) for number in range(len(stem), len(lemma))),
            *((letter, "write", len(lemma), letter, 0.7) for letter in self.endings.get(features, "")),
            ("STOP", "stop", len(lemma), "", 0.99),
        ]
        form, steps = "", []
        for action, kind, position, written, probability in actions:
            form += written
            rest = (("DELETE", (1 - probability) / 2), ("e", (1 - probability) / 3))
            gate = 1 - probability if system == "hacm" else None
            attention = tuple(0.9 if number == position + 1 else 0.01 for number in range(len(source)))
            seen = attention if system == "soft" else None
            steps.append(TraceStep(action, kind, position, written, form, probability, gate, rest, seen))
        return Trace(name, system, lemma, features, form, source, tuple(steps))


def german() -> Inflector:
    attested = (Item("sehen", Bundle("V;IND;PST;1;SG"), "sah"),)
    return cast(Inflector, MadeUp(VERBS, cut="en", labels=Labels((("participle", "V.PTCP;PRS"),)), attested=attested))


def hebrew() -> Inflector:
    letters = "אבגדהוזחטיכלמנסעפצקרשתךםןףץ" + "ְִֵֶַָֹּׁ"
    definite = {features: "ה" for features in NOUNS if "NDEF" not in features}
    return cast(Inflector, MadeUp(NOUNS, prefix=definite, alphabet=letters))
