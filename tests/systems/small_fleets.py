"""Small random models of every system, with items to learn or to inflect."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor

from reinflect.align.pairs import Alignment
from reinflect.data.features import Bundle
from reinflect.data.items import Item
from reinflect.layers.examples import Drawn, Examples, Stack, Trajectory
from reinflect.layers.operations import Dropout
from reinflect.layers.parameters import Parameters
from reinflect.settings import Settings
from reinflect.systems import SYSTEMS
from reinflect.systems.oracle import END, edits, write_step
from reinflect.systems.symbols import Inventory
from reinflect.systems.system import System
from tests.systems.any_alignment import sides
from tests.systems.slow_hacm import SlowHacm
from tests.systems.slow_haem import SlowHaem
from tests.systems.slow_soft import SlowSoft

Slow = SlowHacm | SlowHaem | SlowSoft
SLOW: dict[str, Callable[..., Slow]] = {"hacm": SlowHacm, "haem": SlowHaem, "soft": SlowSoft}
STATIC = [SYSTEMS[name] for name in SLOW]
"""The systems whose oracles are static."""
HACM, HAEM, SOFT = STATIC


SMALL = {"embedding": 3, "hidden": 5, "history_hidden": 4, "feature_embedding": 2, "feature_scale": 2.5, "attention": 4}


def settings_of(system: System, **values: object) -> Settings:
    """Settings of a system, from values of which it takes those that it has."""
    names = {field.name for field in msgspec.structs.fields(system.settings)}
    return system.settings(**{name: value for name, value in values.items() if name in names})  # type: ignore[arg-type]


def with_settings(system: System, **changes: object) -> Settings:
    return settings_of(system, **(SMALL | changes))


@dataclass(frozen=True)
class Language:
    """One model's data: aligned items, and what the model knows of their characters and features."""

    items: tuple[Item, ...]
    alignments: tuple[Alignment, ...]
    inventory: Inventory


def language(
    system: System, words: Sequence[tuple[Alignment, str]], atoms: str, *, unknown: str = "", known: str = ""
) -> Language:
    """Aligned words with their features; the characters of `unknown` are out of vocabulary where they can be.

    A character that the oracle writes is in the vocabulary: what the training data has, training has seen.
    """
    items = tuple(Item(sides(alignment)[0], Bundle(bundle), sides(alignment)[1]) for alignment, bundle in words)
    alignments = tuple(alignment for alignment, _ in words)
    characters = {c for item in items for c in item.lemma + item.form} - set(unknown) | set(known)
    characters |= {action for alignment in alignments for action in actions(system, alignment) if len(action) == 1}
    return Language(items, alignments, Inventory(tuple(sorted(characters)), tuple(sorted(atoms.split(";")))))


def actions(system: System, alignment: Alignment) -> list[str]:
    if system.reads_features:
        return [*sides(alignment)[1], END]
    return write_step(alignment) if system.name == "hacm" else edits(alignment)


def naive(lemma: str, form: str) -> Alignment:
    longest = max(len(lemma), len(form))
    return tuple((lemma[k : k + 1], form[k : k + 1]) for k in range(longest))


def tricky(system: System) -> list[Language]:
    """Three languages of unlike size, with all that can go wrong in a tape."""
    german = [
        (naive("fliegen", "flog"), "V;PST"),  # deletions to the end
        ((("", "g"), ("", "e"), *naive("legen", "legt")), "V;V.PTCP;PST"),  # a prefix
        (naive("x", "x"), "V"),  # a lemma of one character
        (naive("ab", ""), "V;PST;PST"),  # an empty form; a feature twice
        ((("a", ""), ("a", "a"), ("b", ""), ("", "b"), ("", "b")), "N;NEVERSEEN"),
    ]
    other = [(naive("ß*_", "ß*_en"), "N"), ((("", "a"), ("", "ß")), "")]
    return [
        language(system, german, "V;PST;V.PTCP", unknown="nx"),
        language(system, other, "N;A;B;C;D;V;PST", unknown="*", known="äöü"),
        language(system, german[2:3], "V", unknown="x"),
    ]


class SmallFleet:
    """Models of one system with random parameters, biases and all, each with a language of its own."""

    def __init__(
        self,
        system: System,
        settings: Settings,
        languages: Sequence[Language],
        seed: int,
        dtype: torch.dtype = torch.float64,
        spread: float = 0.4,
    ) -> None:
        self.system, self.settings, self.languages, self.dtype = system, settings, list(languages), dtype
        self.sizes = [system.sizes(own.inventory, settings) for own in languages]
        self.shapes = system.shapes(settings)
        drawn = Parameters.initial(self.shapes, self.sizes, [seed + k for k in range(len(languages))], dtype=dtype)
        chance = torch.Generator().manual_seed(seed)
        self.models: list[dict[str, Tensor]] = [
            {
                name: tensor + spread * torch.randn(tensor.shape, generator=chance, dtype=dtype)
                for name, tensor in drawn.one(number, own).items()
            }
            for number, own in enumerate(self.sizes)
        ]
        self.refresh()

    def refresh(self) -> None:
        """Take `models` as the parameters, after a change."""
        self.parameters = Parameters.join(self.shapes, self.sizes, self.models)
        outputs = self.parameters.sizes[self.system.outputs]
        self.allowed = torch.stack([self.system.equations.allowed(sizes, outputs) for sizes in self.sizes])

    def drawn(self, *, mean: bool = True) -> tuple[Drawn, list[list[int]]]:
        """All items of every language at once; a language with fewer items than another has blanks."""
        stack = Stack(
            [
                Examples.to_learn(self.system, own.items, own.alignments, own.inventory, self.settings)
                for own in self.languages
            ],
            dtype=self.dtype,
        )
        most = max(len(own.items) for own in self.languages)
        items = np.array([[k if k < len(own.items) else -1 for k in range(most)] for own in self.languages])
        files = list(range(len(self.languages)))
        means = torch.full((len(files),), mean)
        drawn = stack.to_learn(torch.tensor(files), torch.from_numpy(items), stack.longest(files, items), means)
        return drawn, items.tolist()

    def to_learn(self, *, mean: bool = True, epochs: int = 0) -> tuple[Any, list[list[int]]]:
        """One batch with the trajectories of all items of every language, after so many epochs."""
        drawn, items = self.drawn(mean=mean)
        models = len(self.languages)
        others = self.parameters, self.settings, self.allowed, torch.full((models,), epochs), torch.arange(models) * 7
        return self.system.equations.trajectories(drawn, *others), items

    def losses(self, batch: Trajectory, keys: Tensor | None = None) -> Tensor:
        dropout = None if keys is None else Dropout.of(keys, [self.settings.dropout] * len(keys), self.dtype)
        return self.system.equations.losses(self.parameters, batch, self.settings, self.allowed, dropout)

    def machine(self, number: int, lemma: str, bundle: Bundle, weights: Mapping[str, Tensor] | None = None) -> Slow:
        """The slow one of one model, in double precision."""
        if weights is None:
            weights = {name: tensor.double() for name, tensor in self.models[number].items()}
        inventory = self.languages[number].inventory
        return SLOW[self.system.name](weights, self.settings, inventory, lemma, bundle)

    def slow_losses(
        self, number: int, item: int, weights: Mapping[str, Tensor] | None = None, right: Tensor | None = None
    ) -> list[Tensor]:
        """-log P of every oracle action of one item, or of all actions that are right then. *Shape:* right (T, A)"""
        language = self.languages[number]
        machine = self.machine(number, language.items[item].lemma, language.items[item].features, weights)
        choices, losses = self.system.choices(language.inventory), []
        for step, action in enumerate(actions(self.system, language.alignments[item])):
            probabilities = machine.probabilities()
            if right is not None:
                probabilities[action] = sum(
                    (p for name, p in probabilities.items() if right[step, choices.numbers([name])[0]]), torch.zeros(())
                )
            losses.append(-torch.log(probabilities[action]))
            machine.do(action)
        return losses
