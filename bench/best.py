"""What members weighed by kind are worth: `python -m bench.best OUT`, where OUT is a folder of `reinflect benchmark`.

Nothing is trained. *weights* chooses among the forms of all models of a language by weights of their kinds, which are
learnt from dev items with other lemmas (`bench.weights`); *scores* also by every model's probability of each form; and
*best* by that of these ways which is right more often on other dev items. Rules are a kind, too. OUT/best.md has their
accuracies, OUT/best.json the figures of each language, OUT/predictions/SETTING/best the forms.

With --leave-out there is also *best* without each kind of model, to see what each kind contributes; p is that of a
permutation test over languages. With --candidates every model scores the forms of all models of its language: this
needs OUT/models, which `reinflect benchmark --save-models` writes, and is kept beside the packs.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from msgspec import to_builtins

from bench.candidates import Pool, pool_path, read_pool, write_pool
from bench.common import run
from bench.pairs import compare_pairs
from bench.weights import BEST, RULES, Ballots, cross_fitted
from reinflect.align.pairs import default_folder
from reinflect.assemble import known_runs
from reinflect.data.items import Item, grouped
from reinflect.ensemble.strategies import Trained, Voter, best_first
from reinflect.errors import InputError
from reinflect.files import write_text
from reinflect.inflector.inflector import Inflector
from reinflect.learn.lesson import Lesson
from reinflect.paper.benchmark import PREDICTIONS, read_gold
from reinflect.paper.combine import (
    Figures,
    Forms,
    Kept,
    Scores,
    averages,
    evaluations,
    forms_by_rules,
    kept_forms,
    write_forms,
)
from reinflect.paper.corpora import SETTINGS, read_corpora, title
from reinflect.paper.page import Details, data_of, read_scores
from reinflect.paper.tables import Rows, combining_table, markdown, seen_table
from reinflect.run.packs import by_key, read_results
from reinflect.run.work import map_in_processes
from reinflect.score.scores import right_forms

WITHOUT = "best without "
"""Before a kind of model: `best` of the other kinds."""
ROWS = {
    "vote": "vote of all",
    "weights": "all, weighed by kind",
    "scores": "all, weighed by kind, with each model's probability of each candidate",
    BEST: "the learnt way that wins on other dev items (best)",
}


@dataclass(frozen=True)
class Work:
    """One language in one setting, with all its models."""

    corpus: Lesson
    models: Sequence[Trained]
    gold: Sequence[Item]
    """The right forms of its test items, if they are known."""
    pool: Path
    """The file with every model's probability of every candidate, if there is one."""


def complete(models: Iterable[Trained]) -> dict[tuple[str, str], list[Trained]]:
    """The models by language and setting, where there are as many of each kind as in any language."""
    groups = grouped(models, lambda model: (model.language, model.setting))
    counts = {group: Counter(model.kind for model in members) for group, members in groups.items()}
    most: dict[str, Counter[str]] = {}
    for (_, setting), count in counts.items():
        most[setting] = most.get(setting, Counter()) | count
    return {group: members for group, members in groups.items() if counts[group] == most[group[1]]}


def weigh(work: Work, *, leave_out: bool = False) -> Mapping[str, Forms]:
    """The forms of all ways for a language."""
    corpus, known, right = work.corpus, known_runs(work.corpus.train), right_forms(work.corpus.dev, "last")
    voters = best_first([Voter.of(model, corpus.dev, known, right) for model in work.models if model.usable])
    if not voters:
        return {}
    kept, rules = kept_forms(corpus, [voter.model for voter in voters], known), forms_by_rules(corpus)
    pool = read_pool(work.pool)
    forms = dict(_weighed(corpus, voters, kept, rules, pool))
    for kind in (*dict.fromkeys(model.kind for model in work.models), RULES) if leave_out else ():
        if others := [voter for voter in voters if voter.kind != kind]:
            forms[f"{WITHOUT}{kind}"] = _weighed(corpus, others, kept, None if kind == RULES else rules, pool)[BEST]
    return forms


def _weighed(
    corpus: Lesson, voters: Sequence[Voter], kept: Kept, rules: Forms | None, pool: Pool | None
) -> Mapping[str, Forms]:
    """The forms of all voters, weighed by kind in each way, and by the best way."""
    kinds, bundles = [voter.kind for voter in voters], {item.features.cell for item in corpus.train}
    kinds += [RULES] if rules else []
    rows = [pool.models.index(voter.model.key) for voter in voters] if pool else []
    ballots, seen = {}, {}
    for split, items in (("dev", corpus.dev), ("test", corpus.asked)):
        forms = [kept[voter.name, split] for voter in voters]
        predictions = [voter.model.dev if split == "dev" else voter.model.asked for voter in voters]
        scores = [of_voter.log_probabilities for of_voter in predictions]
        if rules:
            forms.append(rules[split])
            scores.append([0.0] * len(items))
        pooled = (pool.candidates[split], pool.scores[split][rows]) if pool else None
        ballots[split] = Ballots.of(kinds, (forms, scores), pooled)
        seen[split] = [item.features.cell in bundles for item in items]
    answers = right_forms(corpus.dev, "last")
    gold = [answers[item.lemma, item.features.spelling] for item in corpus.dev]
    return cross_fitted(kinds, ballots, gold, seen, [item.lemma for item in corpus.dev])


def kinds_table(figures: Figures) -> Rows:
    """`best` without each kind of model."""
    rows = [["setting", "without", "accuracy", "difference", "p"]]
    for setting in (setting for setting in SETTINGS if setting in figures):
        whole = figures[setting][BEST].languages
        for system, average in figures[setting].items():
            if system.startswith(WITHOUT):
                languages = average.languages.items()
                test = compare_pairs({name: [figure.accuracy - whole[name].accuracy] for name, figure in languages})
                numbers = f"{average.accuracy:.2f}", f"{test.difference:+.2f}", f"{test.p_value:.3f}"
                rows.append([setting, system.removeprefix(WITHOUT), *numbers])
    return rows


def page(scores: Scores) -> str:
    parts = []
    for split, figures in scores.items():
        if figures:
            parts += [f"## Ways to weigh ({split})\n", markdown(combining_table(figures, ROWS), 1)]
            parts += [f"### Bundles that training has seen, and others ({split})\n", markdown(seen_table(figures), 1)]
            if len(rows := kinds_table(figures)) > 1:
                parts += [f"### Without a kind of model ({split})\n", markdown(rows, 2)]
    for setting, by_system in scores["dev"].items():
        accuracies = sorted(by_system[BEST].languages.items())
        rows = [["language", BEST], *([title(name), f"{figure.accuracy:.2f}"] for name, figure in accuracies)]
        parts += [f"## Languages at {setting} (dev)\n", markdown(rows, 1)]
    return "\n".join(["# Members weighed by kind\n", *parts])


def score_candidates(work: Sequence[Work], out: Path, device: str, workers: int) -> None:
    """Write the pools that have no file yet."""
    missing = [each for each in work if read_pool(each.pool) is None]
    labels = map_in_processes(partial(_score, out=out, device=device), missing, workers=workers)
    for number, label in enumerate(labels, 1):
        print(f"{label}: candidates scored ({number} of {len(missing)})", flush=True)


def _score(work: Work, *, out: Path, device: str) -> str:
    """Write a pool; the parameters are those of the model file."""
    path = out / "models" / work.corpus.setting / f"{work.corpus.language}.reinflect"
    if not path.is_file():
        raise InputError("there is no such model file", "give --save-models to reinflect benchmark", path=path)
    members = {member.name: member for member in Inflector.load(path).members}
    models = []
    for model in usable(work.models):
        member = members[model.name]
        models.append((model, member))
    write_pool(work.pool, work.corpus, models, default_folder(), device)
    return work.corpus.label


def usable(models: Iterable[Trained]) -> list[Trained]:
    return sorted((model for model in models if model.usable), key=lambda model: model.key)


def read_work(out: Path, data: Path, gold: Path | None) -> list[Work]:
    """The languages and settings of a benchmark's folder whose models are all trained."""
    figures, details = read_scores(out).get("dev", {}), Details.read(out)
    models = complete(filter(details.has, by_key(read_results(out / "packs")).values()))
    languages, settings = sorted({name for name, _ in models}), {setting for _, setting in models}
    if not models:
        raise InputError("found no language whose models are all trained", "resume reinflect benchmark", path=out)
    corpora, _ = read_corpora(data, languages, [setting for setting in SETTINGS if setting in settings])
    corpora = [corpus for corpus in corpora if (corpus.language, corpus.setting) in models]
    forms = read_gold(gold, corpora) if gold else {}
    work = []
    for corpus in corpora:
        # In the order of the tables of results.
        order = list(figures.get(corpus.setting, {}))
        members = sorted(models[corpus.language, corpus.setting], key=lambda model: order.index(model.kind))
        pool = pool_path(out / "packs", corpus, usable(members))
        work.append(Work(corpus, members, forms.get(corpus.language, ()), pool))
    return work


def best(arguments: argparse.Namespace) -> None:
    out, data = arguments.out, arguments.data or data_of(arguments.out)
    if data is None:
        raise InputError("the data folder of the benchmark was not found", "name it with --data", path=out)
    work = read_work(out, data, arguments.gold)
    if arguments.candidates:
        score_candidates(work, out, arguments.device, arguments.workers)
    do = partial(weigh, leave_out=arguments.leave_out)
    evaluated = []
    for each, systems in zip(work, map_in_processes(do, work, workers=arguments.workers), strict=True):
        if systems:
            evaluated.append((each.corpus, evaluations(each.corpus, systems, each.gold)))
            for split, forms in systems[BEST].items():
                write_forms(out / PREDICTIONS, each.corpus, BEST, split, forms)
    scores = averages(evaluated)
    write_text(out / "best.json", json.dumps(to_builtins(scores), ensure_ascii=False, indent=1) + "\n")
    write_text(out / "best.md", page(scores))
    for split, figures in scores.items():
        if figures:
            print(f"{split}\n{markdown(combining_table(figures, ROWS), 1)}", end="")
    print(f"written: {out / 'best.md'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="a folder that reinflect benchmark wrote")
    parser.add_argument("--data", type=Path, help="its data, if that has moved")
    parser.add_argument("--gold", type=Path, help="a folder with the right forms of test items, to score these too")
    parser.add_argument("--leave-out", action="store_true", help="also weigh without each kind of model")
    parser.add_argument("--candidates", action="store_true", help="score the candidates that have no scores yet")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for --candidates")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    run(parser, best)


if __name__ == "__main__":
    main()
