"""How fast two versions inflect: `python -m bench.words_per_second --old OLD/src --data ../shared/data/conll2017`.

For pocket models, each version in processes of its own, in turn, so that both meet the same load of the machine:
1,000 dev words of some languages, in words per CPU second with one thread; a vote of fifteen members on the German
ones, by the clock, with as many threads as the version takes; and the CPU time of one `reinflect inflect` from the
start of its process to its end. Each figure is the median of the rounds, and each ratio that of two medians.
"""

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.measuring import Measured, figures, measured

LANGUAGES = "german finnish turkish russian"
WORD = ("inflect", "finnish", "talo", "N;IN+ESS;PL")
MEMBERS, SPREAD = 15, 0.003
"""Of the vote: German pocket models with a little noise."""
REPEATS = 5
"""In each process, after a first call, which may compile."""
CODE = """
import json, sys, time, warnings
from dataclasses import replace
from pathlib import Path
from statistics import median
import numpy as np
from reinflect.data.items import read_items
from reinflect.inflector.inflector import Inflector

warnings.simplefilter("ignore")
data, models, languages, members, spread, repeats = json.loads(sys.argv[1])
times = {}

def measure(name, clock, inflect, items):
    inflect(items)
    taken = []
    for _ in range(repeats):
        start = clock()
        inflect(items)
        taken.append(clock() - start)
    times[name] = median(taken) / len(items)

for language in languages:
    inflector = Inflector.load(Path(models) / f"{language}.reinflect")
    items = list(read_items(Path(data) / f"{language}-dev"))[:1000]
    if members == 1:
        measure(language, time.process_time, inflector.inflect_many, items)
    else:
        noise, (member,) = np.random.default_rng(0), inflector.members
        several = [
            replace(member, seed=seed, parameters={
                name: (array + noise.normal(0, spread, array.shape)).astype(np.float32)
                for name, array in member.parameters.items()
            })
            for seed in range(members)
        ]
        voters = replace(inflector, members=tuple(several), strategy="vote", choices={}, confidences={})
        measure("vote", time.perf_counter, voters.inflect_many, items)
print(json.dumps(times))
"""


def run(source: Path, arguments: list[str], **variables: str) -> Measured:
    left_out = ("PYTHONDONTWRITEBYTECODE", *(name for name in os.environ if name.endswith("_NUM_THREADS")))
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    return measured([sys.executable, *arguments], environment | {"PYTHONPATH": str(source), **variables})


def seconds(source: Path, data: Path, models: Path, languages: list[str], compiled: Path) -> dict[str, float]:
    """Seconds a word by language, of a vote, and of a cold start. `compiled`: a folder for compiled modules."""

    def times(chosen: list[str], members: int, **variables: str) -> dict[str, float]:
        question = json.dumps([str(data), str(models), chosen, members, SPREAD, REPEATS])
        taken: dict[str, float] = json.loads(run(source, ["-c", CODE, question], **kept, **variables).output)
        return taken

    kept = {"PYTHONPYCACHEPREFIX": str(compiled)}
    cold = run(source, ["-m", "reinflect", *WORD], REINFLECT_MODELS=str(models), **kept).cpu
    return {**times(languages, 1, OMP_NUM_THREADS="1"), **times(languages[:1], MEMBERS), "cold": cold}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="the folder src of the version to compare with")
    parser.add_argument("--new", type=Path, default=Path("src"), help="that of the other (%(default)s)")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models/reinflect_models"))
    parser.add_argument("--languages", default=LANGUAGES)
    parser.add_argument("--rounds", type=int, default=5, help="rounds after a first one, which does not count")
    arguments = parser.parse_args()
    place = arguments.data.resolve(), arguments.models.resolve(), arguments.languages.split()
    taken: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    with TemporaryDirectory() as compiled:
        for number in range(arguments.rounds + 1):
            old, new = (seconds(source.resolve(), *place, Path(compiled)) for source in (arguments.old, arguments.new))
            for name in old if number else ():
                taken[name].append((old[name], new[name]))
    rows = []
    for name, pairs in taken.items():
        before, after = map(median, zip(*pairs, strict=True))
        if name in ("cold", "vote"):
            what = "one word cold, CPU s" if name == "cold" else f"a vote of {MEMBERS}, ms a word"
            factor = 1 if name == "cold" else 1000
            rows.append([what, f"{factor * before:.3f}", f"{factor * after:.3f}", f"{after / before:.2f}"])
        else:
            rows.append([f"{name}, words a CPU s", f"{1 / before:,.0f}", f"{1 / after:,.0f}", f"{before / after:.2f}"])
    print(figures(("", "old", "new", "ratio"), rows))


if __name__ == "__main__":
    main()
