"""Assemble an inflector of trained models: its voters, accuracy and confidences, from predictions for dev items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from reinflect.data.features import NO_LABELS, Labels
from reinflect.data.items import Item, Normalisation
from reinflect.data.lexicon import WordList
from reinflect.decode.search import WIDTH, longest_runs
from reinflect.ensemble.confidence import HELD_OUT_PULL, fit, judged_cells, learn, ranked, seen_cells
from reinflect.ensemble.strategies import STRATEGIES, Member, Trained, Voter, choices, dev_accuracy, find_strategy
from reinflect.inflector.card import describe_training
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import fold_split
from reinflect.score.scores import Cell, right_forms

MOST_ATTESTED, MOST_CHARACTERS = 200_000, 10_000_000
"""Attested forms in a model file, and the characters of these items: about half of what its header can have."""
MOST_JUDGED = 1000
"""Dev or held-out items that say what a word list is worth; their n-best lists take time."""


@dataclass(frozen=True)
class Keep:
    """What a model file keeps besides its models."""

    half: bool = False
    """Numbers in half precision."""
    attested: bool = True
    """The forms of all items, as attested ones."""
    labels: Labels = NO_LABELS
    cells: Sequence[str] = ()
    """The bundles of a paradigm in the user's order."""
    words: WordList | None = None
    """Evidence for forms; the models do not depend on it."""
    normalisation: Normalisation = "none"
    """The encoding of the items."""


def known_runs(items: Sequence[Item]) -> dict[str, int]:
    """The runs of one character in training words; see `decode.forms`."""
    return longest_runs(word for item in items for word in (item.lemma, item.form))


def voters_of(models: Sequence[Trained], train: Sequence[Item], dev: Sequence[Item] | None) -> list[Voter]:
    """Usable models as voters: on the dev items, or each on the fold of the training items that it held out."""
    runs, gold = known_runs(train), right_forms(dev, "last") if dev is not None else None
    folds = {fold: fold_split(train, fold)[1] for fold in {model.fold for model in models} if fold is not None}
    return [
        Voter.of(model, folds[model.fold] if dev is None and model.fold is not None else dev or (), runs, gold)
        for model in models
        if model.usable
    ]


def assemble(
    models: Sequence[tuple[Trained, Member]],
    train: Sequence[Item],
    dev: Sequence[Item] | None,
    keep: Keep,
    *,
    strategy: str,
    source: str,
    interrupted: bool = False,
    starts: Mapping[str, str] | None = None,
) -> Inflector:
    """An inflector of usable models, at least one; `starts` is that of the card.

    Without dev items each model is scored on the fold of the training items that it held out.
    """
    members = {member.name: member for _, member in models}
    voters = voters_of([trained for trained, _ in models], train, dev)
    chosen, seen = choices(voters, [strategy]), _seen_cells(members.values(), train, dev)
    name = strategy if strategy in chosen else "vote"
    if dev is None:  # all models vote: perhaps only one of a strategy's voters held out an item
        confidence = fit(*judged_cells(STRATEGIES["vote"], chosen["vote"], seen), pull=HELD_OUT_PULL)
        confidences = dict.fromkeys(chosen, confidence)
    else:
        confidences = {each: fit(*judged_cells(find_strategy(each), chosen[each], seen)) for each in chosen}
    accuracy, scored = dev_accuracy(find_strategy(name), chosen[name]), {c for v in chosen[name] for c in v.gold}
    inflector = Inflector(
        tuple(replace(members[voter.name], dev_accuracy=voter.dev_accuracy) for voter in voters),
        known_runs(train),
        name,
        {each: tuple(voter.name for voter in voters) for each, voters in chosen.items()},
        confidences={each: confidence for each, confidence in confidences.items() if confidence},
        training=describe_training(
            train, dev, source=source, accuracy=accuracy, scored=len(scored), interrupted=interrupted, starts=starts
        ),
        labels=keep.labels,
        attested=attested_items((*train, *(dev or ()))) if keep.attested else (),
        cells=tuple(keep.cells),
        normalisation=keep.normalisation,
    )
    return inflector if keep.words is None else with_word_list(inflector, train, dev, keep.words)


def attested_items(items: Iterable[Item]) -> tuple[Item, ...]:
    """Attested forms that a model file can hold, each once: none if there are too many."""
    forms = {(item.lemma, item.form, item.features.spelling): item for item in items if not item.covered}
    fits = len(forms) <= MOST_ATTESTED and sum(len(text) for fields in forms for text in fields) <= MOST_CHARACTERS
    return tuple(Item(item.lemma, item.features, item.form) for item in forms.values()) if fits else ()


def with_word_list(
    inflector: Inflector, train: Sequence[Item], dev: Sequence[Item] | None, words: WordList
) -> Inflector:
    """An inflector of these items with a word list; without it if they are too few to learn what it is worth."""
    seen, judged = _seen_cells(inflector.members, train, dev), []
    for fold in dict.fromkeys(member.fold for member in inflector.members) if dev is None else [None]:
        members = tuple(member for member in inflector.members if member.fold == fold)
        voters = replace(inflector, members=members, choices={}, strategy="vote") if dev is None else inflector
        gold = (dev or ()) if fold is None else fold_split(train, fold)[1]
        items = {(item.lemma, item.features.spelling): item for item in gold[:MOST_JUDGED]}
        right, candidates = right_forms(gold, "last"), voters.candidates([*items.values()], WIDTH)
        for cell, (vote, lists) in zip(items, candidates, strict=True):
            judged.append((cell, ranked(vote.form, vote.forms, lists, seen=cell in seen), right[cell]))
    confidence = inflector.confidences.get(inflector.strategy)
    evidence = learn(words, judged, confidence, HELD_OUT_PULL if dev is None else 1.0) if confidence else None
    return replace(inflector, words=evidence, word_list=words if evidence else None)


def _seen_cells(models: Iterable[Trained | Member], train: Sequence[Item], dev: Sequence[Item] | None) -> set[Cell]:
    if dev is not None:
        return seen_cells(train, dev)
    folds = {model.fold for model in models if model.fold is not None}
    return set().union(*(seen_cells(*fold_split(train, fold)) for fold in folds))
