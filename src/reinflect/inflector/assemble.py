"""Assemble an inflector of trained models: its voters, accuracy and confidences, from predictions for dev items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reinflect.data.items import Item
from reinflect.data.labels import NO_LABELS, Labels
from reinflect.data.words import WordList
from reinflect.decode.forms import WIDTH
from reinflect.decode.repeats import longest_runs
from reinflect.ensemble.confidence import HELD_OUT_PULL, Confidence, fit, judged_cells, ranked, seen_cells
from reinflect.ensemble.member import TrainedModel
from reinflect.ensemble.strategies import STRATEGIES, Voter, choices, dev_accuracy, find_strategy
from reinflect.ensemble.word_evidence import learn
from reinflect.inflector.card import describe_training
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import fold_split
from reinflect.score.scores import Cell, right_forms

MOST_ATTESTED, MOST_CHARACTERS = 200_000, 10_000_000
"""Attested forms in a model file, and the characters of these items: about half of what its header can have."""

MOST_ASKED = 1000
"""Dev or held-out items that say what a word list is worth; their n-best lists take time."""


def known_runs(items: Sequence[Item]) -> dict[str, int]:
    """The runs of one character in training words; see `decoding.repeats`."""
    return longest_runs(word for item in items for word in (item.lemma, item.form))


def voters_of(models: Sequence[TrainedModel], train: Sequence[Item], dev: Sequence[Item] | None) -> list[Voter]:
    """Usable models as voters: on the dev items, or each on the fold of the training items that it held out."""
    runs, gold = known_runs(train), right_forms(dev, "last") if dev is not None else None
    held = {fold: fold_split(train, fold)[1] for fold in {model.fold for model in models} if fold is not None}
    return [
        Voter.of(model, held[model.fold] if dev is None and model.fold is not None else dev or (), runs, gold)
        for model in models
        if model.usable
    ]


def assemble(
    models: Sequence[TrainedModel],
    train: Sequence[Item],
    dev: Sequence[Item] | None,
    *,
    strategy: str,
    source: str,
    interrupted: bool = False,
    labels: Labels = NO_LABELS,
    attested: bool = False,
    cells: Sequence[str] = (),
    words: WordList | None = None,
    starts: Mapping[str, str] | None = None,
) -> Inflector:
    """An inflector of models with their parameters, at least one of them usable.

    Without dev items each model is scored on the fold of the training items that it held out. With `attested` it keeps
    the forms of all items; `cells` are the bundles of a paradigm in the user's order, `starts` that of the card,
    `words` a list that is evidence for forms.
    """
    voters = voters_of(models, train, dev)
    chosen = choices(voters, [strategy])
    used = strategy if strategy in chosen else "vote"
    seen = _seen_cells([voter.model for voter in voters], train, dev)
    confidences = {name: _fitted(name, chosen, seen, held_out=dev is None) for name in chosen}
    made = Inflector(
        tuple(replace(voter.model, dev_accuracy=voter.dev_accuracy) for voter in voters),
        known_runs(train),
        used,
        {name: tuple(voter.name for voter in some) for name, some in chosen.items()},
        confidences={name: confidence for name, confidence in confidences.items() if confidence},
        training=describe_training(
            train,
            dev,
            source=source,
            accuracy=dev_accuracy(find_strategy(used), chosen[used]),
            scored=len({cell for voter in chosen[used] for cell in voter.gold}),
            interrupted=interrupted,
            starts=starts,
        ),
        labels=labels,
        attested=kept((*train, *(dev or ()))) if attested else (),
        cells=tuple(cells),
    )
    return made if words is None else taught_words(made, train, dev, words)


def kept(items: Iterable[Item]) -> tuple[Item, ...]:
    """Attested forms that a model file can hold, each once: none if there are too many."""
    own = {(item.lemma, item.form, item.features.spelling): item for item in items if not item.covered}
    fits = len(own) <= MOST_ATTESTED and sum(len(text) for fields in own for text in fields) <= MOST_CHARACTERS
    return tuple(Item(item.lemma, item.features, item.form) for item in own.values()) if fits else ()


def _seen_cells(models: Sequence[TrainedModel], train: Sequence[Item], dev: Sequence[Item] | None) -> set[Cell]:
    if dev is not None:
        return seen_cells(train, dev)
    folds = {model.fold for model in models if model.fold is not None}
    return set().union(*(seen_cells(*fold_split(train, fold)) for fold in folds))


def taught_words(made: Inflector, train: Sequence[Item], dev: Sequence[Item] | None, words: WordList) -> Inflector:
    """An inflector of these items with a word list; without it if they are too few to learn what it is worth."""
    seen, judged = _seen_cells(made.members, train, dev), []
    for fold in dict.fromkeys(member.fold for member in made.members) if dev is None else [None]:
        members = tuple(member for member in made.members if member.fold == fold)
        voters = replace(made, members=members, choices={}, strategy="vote") if dev is None else made
        given = (dev or ()) if fold is None else fold_split(train, fold)[1]
        items = {(item.lemma, item.features.spelling): item for item in given[:MOST_ASKED]}
        right, found = right_forms(given, "last"), voters.candidates([*items.values()], WIDTH)
        for cell, (form, forms, lists, _) in zip(items, found, strict=True):
            judged.append((cell, ranked(form, forms, lists, seen=cell in seen), right[cell]))
    usual = made.confidences.get(made.strategy)
    learnt = learn(words, judged, usual, HELD_OUT_PULL if dev is None else 1.0) if usual else None
    return replace(made, words=learnt, word_list=words if learnt else None)


def _fitted(name: str, chosen: dict[str, list[Voter]], seen: set[Cell], *, held_out: bool) -> Confidence | None:
    """The confidence of a strategy, fitted on predictions for dev items.

    For held-out items all models vote: perhaps only one of the strategy's voters held out an item.
    """
    if held_out:
        return fit(*judged_cells(STRATEGIES["vote"], chosen["vote"], seen), pull=HELD_OUT_PULL)
    return fit(*judged_cells(find_strategy(name), chosen[name], seen))
