"""Is it worth asking for the forms a model is least sure of, rather than for any?

    python -m bench.elicitation ../shared/data/conll2017 german russian turkish

A linguist who has 100 forms asks for 50 more, trains again, asks for 50 more, trains again. The speaker is the medium
training file (900 other forms); what is asked for is chosen at random, or as `reinflect suggest` does. Every model is
then asked for dev items, which nobody has learnt from. Small models of one kind: it is the difference that counts.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.common import run
from reinflect.assemble import Keep
from reinflect.data.corrections import question
from reinflect.data.items import Item, read_items
from reinflect.inflector.analyse import ranked
from reinflect.inflector.inflector import Inflector
from reinflect.run.watch import Resources
from reinflect.score.scores import Evaluation, MacroEvaluation, evaluate
from reinflect.score.significance import compare
from reinflect.systems.kind import Wish
from reinflect.train import train_model

Choice = Callable[[Inflector, Sequence[Item], int], list[Item]]
SMALL = ("hidden=50", "embedding=50", "history_hidden=25", "epochs=20", "score_every=4", "score_from=0")


def at_random(_inflector: Inflector, pool: Sequence[Item], seed: int) -> list[Item]:
    return random.Random(seed).sample(pool, len(pool))


def least_certain(inflector: Inflector, pool: Sequence[Item], _seed: int, *, spread: bool = False) -> list[Item]:
    answered = {(item.lemma, item.features.spelling): item for item in pool}
    return [
        answered[doubt.lemma, doubt.features] for doubt in ranked(inflector, list(answered.values()), spread=spread)
    ]


def spread_out(inflector: Inflector, pool: Sequence[Item], seed: int) -> list[Item]:
    return least_certain(inflector, pool, seed, spread=True)


CHOICES: dict[str, Choice] = {"random": at_random, "suggest": spread_out, "suggest --no-spread": least_certain}


def trained(items: Sequence[Item], seeds: int) -> Inflector:
    wish = Wish(["haem-naive"], preset="low", changes=SMALL, seeds=seeds)
    return train_model(items, None, wish, Keep(), Resources()).inflector


def scored(inflector: Inflector, gold: Sequence[Item], name: str) -> Evaluation:
    forms = inflector.inflect_many(gold)
    return evaluate(gold, [Item(i.lemma, i.features, form) for i, form in zip(gold, forms, strict=True)], name=name)


def simulated(language: str, arguments: argparse.Namespace) -> dict[str, list[Evaluation]]:
    """By the way of choosing: the scores after each round, the first before any."""
    start = read_items(arguments.data / f"{language}-train-low")
    gold = read_items(arguments.data / f"{language}-dev")[: arguments.dev]
    had = {question(item) for item in start}
    speaker = [item for item in read_items(arguments.data / f"{language}-train-medium") if question(item) not in had]
    first = trained(start, arguments.seeds)
    before = scored(first, gold, language)
    results: dict[str, list[Evaluation]] = {}
    for name in arguments.ways:
        items, pool, inflector, scores = list(start), list(speaker), first, [before]
        for turn in range(arguments.rounds):
            answered = CHOICES[name](inflector, pool, turn)[: arguments.n]
            items += answered
            pool = [item for item in pool if item not in answered]
            inflector = trained(items, arguments.seeds)
            scores.append(scored(inflector, gold, language))
        results[name] = scores
        print(f"{language}, {name}: {' -> '.join(f'{score.accuracy:.1f}' for score in scores)}", flush=True)
    return results


def simulate(arguments: argparse.Namespace) -> None:
    results = {language: simulated(language, arguments) for language in arguments.languages}
    macro = {
        name: [
            MacroEvaluation(name, {language: results[language][name][turn] for language in arguments.languages})
            for turn in range(arguments.rounds + 1)
        ]
        for name in arguments.ways
    }
    for name, scores in macro.items():
        print(f"mean, {name}: {' -> '.join(f'{score.accuracy:.1f}' for score in scores)}")
    for name in arguments.ways[1:]:
        first = arguments.ways[0]
        test = compare(macro[name][-1], macro[first][-1])
        interval = f"{test.difference:+.2f} ({test.low:+.2f} to {test.high:+.2f})"
        print(f"{name} against {first}: {interval}, p = {test.p_value:.4f}. {test.verdict(name, first)}")
    print(f"{time.process_time():.0f} CPU seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--n", type=int, default=50, help="forms asked for in a round")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ways", nargs="+", choices=CHOICES, default=list(CHOICES), help="the first is compared with")
    parser.add_argument("--dev", type=int, default=500, help="dev items to ask for")
    run(parser, simulate)


if __name__ == "__main__":
    main()
