"""The tables of a benchmark, as rows of text with the header first, and as a page of Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from reinflect.ensemble.strategies import RUNS
from reinflect.paper import published
from reinflect.paper.claims import Claim, claims, title
from reinflect.paper.combine import COMPARED, NOT_WRITTEN, SPLITS, Changes
from reinflect.paper.corpora import SETTINGS
from reinflect.paper.figures import Average, Figures, Scores
from reinflect.run.packs import PackResult
from reinflect.systems import SYSTEMS
from reinflect.text import Side, in_columns

NOTHING = "–"
MODELS_NOTE = (
    "Accuracy: per cent of dev items, the mean of seeds and languages, before the filter for repeats. Seconds of a "
    "pack, with decoding, are divided among its models; on a CPU several packs train at once.\n"
)
LANGUAGES_OF_THE_PAPER = {"low": 52, "medium": 52, "high": 51}
HELD = {True: "held", False: "not held", None: "not checked"}
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("HACM N", "hacm-naive", "accuracy"),
    ("HACM S", "hacm-smart", "accuracy"),
    ("HAEM N", "haem-naive", "accuracy"),
    ("HAEM S", "haem-smart", "accuracy"),
    ("soft", "soft", "accuracy"),
    *((run.title, run.name, "accuracy") for run in RUNS),
    ("Run 7 Lev", "run7", "levenshtein"),
    ("baseline", "baseline", "accuracy"),
    ("Lev", "baseline", "levenshtein"),
)
"""The columns of the paper's table: header, system and figure."""
THEIRS = {system for _, system, _ in COLUMNS}
WAYS = {
    "run6": "vote of the best 15 (Run 6)",
    COMPARED[0]: "vote of the best 7",
    COMPARED[1]: "mean probability of the best 15",
    "vote": "vote of all",
}
Rows = list[list[str]]


def markdown(rows: Sequence[Sequence[str]], words: int) -> str:
    """A table whose columns are also aligned in the source; the first `words` columns are text, the others numbers."""
    header, *others = rows
    numbers = len(header) - words
    marks = ["---"] * words + ["--:"] * numbers
    sides: list[Side] = ["left"] * words
    lines = in_columns([header, marks, *others], " | ", sides + ["right"] * numbers)
    widest = max(map(len, lines))  # the last column lost its blanks
    return "".join(f"| {line.ljust(widest)} |\n" for line in lines)


def main_table(figures: Figures, split: str) -> Rows:
    """The paper's table of results, with what there is of it, and with kinds of models of our own.

    For the paper's languages each setting has our figures, the paper's, and the difference; else ours alone.
    """
    there = dict.fromkeys(system for own in figures.values() for system in own)
    further = [(system, system, "accuracy") for system in there if system not in {*THEIRS, *NOT_WRITTEN}]
    columns = [column for column in (*COLUMNS, *further) if column[1] in there]
    rows = [[split, "", *(header for header, _, _ in columns)]]
    for setting in (setting for setting in SETTINGS if setting in figures):
        ours: list[float | None] = [getattr(figures[setting].get(system), what, None) for _, system, what in columns]
        theirs: list[float | None] = [getattr(published, what)(split, setting, system) for _, system, what in columns]
        gaps = [None if a is None or b is None else a - b for a, b in zip(ours, theirs, strict=True)]
        rows.append([setting, "ours", *map(_number, ours)])
        if _of_paper(figures[setting]):
            rows.append(["", "paper", *(_number(own, "") for own in theirs)])
            rows.append(["", "difference", *(_number(gap, "+.2f") for gap in gaps)])
    return rows


def _of_paper(figures: Mapping[str, Average]) -> bool:
    """Whether the paper has all of these languages."""
    return all(published.has_language(name) for score in figures.values() for name in score.languages)


def _number(number: float | None, form: str = ".2f") -> str:
    return NOTHING if number is None else format(number, form)


def languages_note(figures: Figures) -> str:
    """The number of languages averaged: not every system need be finished in every language."""
    parts, other = [], False
    for setting in (setting for setting in SETTINGS if setting in figures):
        counts = sorted({len(score.languages) for score in figures[setting].values()})
        other = other or (_of_paper(figures[setting]) and counts != [LANGUAGES_OF_THE_PAPER[setting]])
        parts.append(f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} ({setting})")
    paper = " The paper averages 52 (high: 51); where ours are fewer, the difference means little."
    return f"Languages averaged: {', '.join(parts)}.{paper if other else ''}\n"


def combining_table(figures: Figures, systems: Mapping[str, str] = WAYS) -> Rows:
    """Run 6 and other combinations of members."""
    settings = [setting for setting in SETTINGS if setting in figures]
    rows = [
        [name, *(_number(getattr(figures[setting].get(system), "accuracy", None)) for setting in settings)]
        for system, name in systems.items()
    ]
    return [["", *settings], *rows]


def seen_table(figures: Figures) -> Rows:
    """Accuracy on items whose bundle the training items have, and on the others, with the number of items."""
    settings = [setting for setting in SETTINGS if setting in figures]
    rows = [["", *(f"{setting}, {part}" for setting in settings for part in ("seen", "unseen"))]]
    for system in dict.fromkeys(system for setting in settings for system in figures[setting]):
        own = [figures[setting].get(system) for setting in settings]
        parts = [getattr(one, part, None) for one in own for part in ("seen", "unseen")]
        rows.append([system, *(f"{part.accuracy:.2f} % of {part.items}" if part else NOTHING for part in parts)])
    return rows


def language_table(figures: Mapping[str, Average], setting: str) -> Rows:
    """Naive and smart in every language, and Run 7 with the published one; else, all systems."""
    if not _of_paper(figures):
        own = {system: score.languages for system, score in figures.items() if system not in NOT_WRITTEN}
        names = sorted({name for languages in own.values() for name in languages})
        numbers = {name: [getattr(there.get(name), "accuracy", None) for there in own.values()] for name in names}
        return [["language", *own], *([title(name), *map(_number, line)] for name, line in numbers.items())]
    rows = [["language", "HACM N", "S", "N − S", "HAEM N", "S", "N − S", "Run 7", "published (test)", "next best"]]
    for name in sorted({name for score in figures.values() for name in score.languages}):
        accuracies = {
            system: score.languages[name].accuracy for system, score in figures.items() if name in score.languages
        }
        cells = []
        for system in ("hacm", "haem"):
            naive, smart = (accuracies.get(f"{system}-{alignment}") for alignment in ("naive", "smart"))
            gap = None if naive is None or smart is None else naive - smart
            cells += [_number(naive), _number(smart), _number(gap, "+.2f")]
        theirs = published.of_language(name, setting) or (None, None)
        rows.append([title(name), *cells, _number(accuracies.get("run7")), *(_number(own, ".1f") for own in theirs)])
    return rows


def claims_table(found: Sequence[Claim]) -> Rows:
    rows = [[claim.text, HELD[claim.held], claim.evidence] for claim in found]
    return [["claim of the paper's §6", "here", "accuracies"], *rows]


def repeats_table(changes: Mapping[str, Mapping[str, Changes]]) -> Rows:
    """How many outputs the filter for repeats changed, by setting and system."""
    rows = [["system", "setting", "votes, dev", "votes, test", "single models, dev", "single models, test"]]
    totals: dict[str, Changes] = {}
    for by_system in changes.values():
        for system, own in by_system.items():
            totals.setdefault(system, Counter()).update(own)
    for setting, by_system in (*changes.items(), ("all", totals)):
        for system, own in by_system.items():
            counts = [str(own[what, split]) for what in ("voted", "single") for split in SPLITS]
            rows.append([SYSTEMS[system].title, setting, *counts])
    return rows


def models_table(results: Sequence[PackResult]) -> Rows:
    """One model's accuracy on dev items, the mean of seeds and then of languages, and the time, by setting and kind."""
    shares: dict[tuple[int, str], list[float]] = {}
    accuracies: dict[tuple[int, str], dict[str, list[float]]] = {}
    for result in results:
        for model in result.models:
            place = SETTINGS.index(model.setting), model.kind
            shares.setdefault(place, []).append(result.seconds / len(result.models))
            accuracies.setdefault(place, {}).setdefault(model.language, []).append(max(0.0, model.dev_accuracy))
    rows = [["setting", "kind", "models", "accuracy", "seconds", "seconds per model"]]
    for place, own in sorted(shares.items()):
        one = fmean(map(fmean, accuracies[place].values()))
        numbers = [str(len(own)), f"{one:.2f}", f"{sum(own):.0f}", f"{sum(own) / len(own):.2f}"]
        rows.append([SETTINGS[place[0]], place[1], *numbers])
    whole = [seconds for own in shares.values() for seconds in own]
    return [*rows, ["all", "", str(len(whole)), "", f"{sum(whole):.0f}", ""]]


def page(
    scores: Scores, *, about: Sequence[str], changes: Mapping[str, Mapping[str, Changes]], results: Sequence[PackResult]
) -> str:
    """All tables."""
    parts = ["# Benchmark\n", "".join(f"- {line}\n" for line in about)]
    for split, figures in scores.items():
        if figures:
            parts += [f"## Accuracy on {split}\n", markdown(main_table(figures, split), 2), languages_note(figures)]
            parts += [f"### Ways to combine ({split})\n", markdown(combining_table(figures), 1)]
            parts += [f"### Bundles that training has seen, and others ({split})\n", markdown(seen_table(figures), 1)]
            if any("run7" in by_system for by_system in figures.values()):
                parts += [f"### Every language ({split})\n", f"![accuracy of every language](languages-{split}.svg)\n"]
    dev = scores["dev"]
    for setting in (setting for setting in SETTINGS if setting in dev):
        parts += [f"## Languages at {setting} (dev)\n", markdown(language_table(dev[setting], setting), 1)]
    paper = ", ".join(f"{published.repeats(system)} for {SYSTEMS[system].title}" for system in ("hacm", "haem"))
    note = (
        "Votes: outputs of E(N) and E(S) that the filter would replace by the lemma if the models were not filtered "
        f"before they vote. In the paper, on test items: {paper}.\n"
    )
    if all(map(_of_paper, dev.values())):
        parts += ["## Claims\n", markdown(claims_table(claims(dev)), 3)]
    parts += ["## Outputs changed by the filter for repeats\n", markdown(repeats_table(changes), 2), note]
    parts += ["## Single models\n", markdown(models_table(results), 2), MODELS_NOTE]
    return "\n".join(parts)
