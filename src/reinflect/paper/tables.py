"""The tables of a benchmark, as rows of text with the header first, and as a page of Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from reinflect.data.items import grouped
from reinflect.ensemble.strategies import RUNS
from reinflect.paper import published
from reinflect.paper.claims import Claim, claims, title
from reinflect.paper.combine import COMPARED, NOT_WRITTEN, SPLITS, Changes
from reinflect.paper.corpora import SETTINGS
from reinflect.paper.figures import Average, Figures, Scores, settings_in
from reinflect.run.pack_files import PackResult
from reinflect.systems import SYSTEMS
from reinflect.text import Side, in_columns

NOTHING = "–"
MODELS_NOTE = (
    "Accuracy: per cent of dev items, the mean of seeds and languages, before the filter for repeats. Seconds of a "
    "pack, with decoding, are divided among its models; on a CPU several packs train at once.\n"
)
REPEATS_NOTE = (
    "Votes: outputs of E(N) and E(S) that the filter would replace by the lemma if the models were not filtered before "
    "they vote. In the paper, on test items: {}.\n"
)
LANGUAGES_OF_THE_PAPER = {"low": 52, "medium": 52, "high": 51}
HELD = {True: "held", False: "not held", None: "not checked"}
KINDS = {"HACM N": "hacm-naive", "HACM S": "hacm-smart", "HAEM N": "haem-naive", "HAEM S": "haem-smart", "soft": "soft"}
COLUMNS: tuple[tuple[str, str, str], ...] = (
    *((header, system, "accuracy") for header, system in KINDS.items()),
    *((run.title, run.name, "accuracy") for run in RUNS),
    ("Run 7 Lev", "run7", "levenshtein"),
    ("baseline", "baseline", "accuracy"),
    ("Lev", "baseline", "levenshtein"),
)
"""The columns of the paper's table: header, system and figure."""
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
    sides: list[Side] = ["left"] * words
    rules = ["---"] * words + ["--:"] * numbers
    lines = in_columns([header, rules, *others], " | ", sides + ["right"] * numbers)
    widest = max(map(len, lines))  # the last column lost its blanks
    return "".join(f"| {line.ljust(widest)} |\n" for line in lines)


def main_table(figures: Figures, split: str) -> Rows:
    """The paper's table of results, with what there is of it, and with kinds of models of our own.

    For the paper's languages each setting has our figures, the paper's, and the difference; else ours alone.
    """
    systems = dict.fromkeys(system for by_system in figures.values() for system in by_system)
    of_paper = {system for _, system, _ in COLUMNS}
    further = [(system, system, "accuracy") for system in systems if system not in {*of_paper, *NOT_WRITTEN}]
    columns = [column for column in (*COLUMNS, *further) if column[1] in systems]
    rows = [[split, "", *(header for header, _, _ in columns)]]
    for setting in settings_in(figures):
        ours: list[float | None] = [getattr(figures[setting].get(system), what, None) for _, system, what in columns]
        theirs = [published.average(what, split, setting, system) for _, system, what in columns]
        gaps = [None if a is None or b is None else a - b for a, b in zip(ours, theirs, strict=True)]
        rows.append([setting, "ours", *map(_number, ours)])
        if _of_paper(figures[setting]):
            rows.append(["", "paper", *(_number(number, "") for number in theirs)])
            rows.append(["", "difference", *(_number(gap, "+.2f") for gap in gaps)])
    return rows


def _of_paper(by_system: Mapping[str, Average]) -> bool:
    """Whether the paper has all of these languages."""
    return all(name in published.numbers()["languages"] for score in by_system.values() for name in score.languages)


def _number(number: float | None, form: str = ".2f") -> str:
    return NOTHING if number is None else format(number, form)


def languages_note(figures: Figures) -> str:
    """The number of languages averaged: not every system need be finished in every language."""
    parts, fewer = [], False
    for setting in settings_in(figures):
        counts = sorted({len(score.languages) for score in figures[setting].values()})
        fewer = fewer or (_of_paper(figures[setting]) and counts != [LANGUAGES_OF_THE_PAPER[setting]])
        parts.append(f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} ({setting})")
    paper = " The paper averages 52 (high: 51); where ours are fewer, the difference means little."
    return f"Languages averaged: {', '.join(parts)}.{paper if fewer else ''}\n"


def combining_table(figures: Figures, systems: Mapping[str, str] = WAYS) -> Rows:
    """Run 6 and other combinations of members."""
    by_setting = [figures[setting] for setting in settings_in(figures)]
    rows = [
        [name, *(_number(getattr(of.get(system), "accuracy", None)) for of in by_setting)]
        for system, name in systems.items()
    ]
    return [["", *settings_in(figures)], *rows]


def seen_table(figures: Figures) -> Rows:
    """Accuracy on items whose bundle the training items have, and on the others, with the number of items."""
    columns = [(setting, part) for setting in settings_in(figures) for part in ("seen", "unseen")]
    rows = [["", *map(", ".join, columns)]]
    for system in dict.fromkeys(system for setting in settings_in(figures) for system in figures[setting]):
        parts = [getattr(figures[setting].get(system), part, None) for setting, part in columns]
        rows.append([system, *(f"{part.accuracy:.2f} % of {part.items}" if part else NOTHING for part in parts)])
    return rows


def language_table(by_system: Mapping[str, Average], setting: str) -> Rows:
    """Naive and smart in every language, and Run 7 with the published one; else, all systems."""
    names = sorted({name for score in by_system.values() for name in score.languages})

    def accuracy(system: str, name: str) -> float | None:
        return getattr(by_system[system].languages.get(name), "accuracy", None) if system in by_system else None

    if not _of_paper(by_system):
        systems = [system for system in by_system if system not in NOT_WRITTEN]
        rows = [[title(name), *(_number(accuracy(system, name)) for system in systems)] for name in names]
        return [["language", *systems], *(row for row in rows if set(row[1:]) != {NOTHING})]
    rows = [["language", "HACM N", "S", "N − S", "HAEM N", "S", "N − S", "Run 7", "published (test)", "next best"]]
    for name in names:
        cells = []
        for system in ("hacm", "haem"):
            naive, smart = (accuracy(f"{system}-{alignment}", name) for alignment in ("naive", "smart"))
            gap = None if naive is None or smart is None else naive - smart
            cells += [_number(naive), _number(smart), _number(gap, "+.2f")]
        theirs = published.of_language(name, setting) or (None, None)
        rows.append([title(name), *cells, _number(accuracy("run7", name)), *(_number(each, ".1f") for each in theirs)])
    return rows


def claims_table(checked: Sequence[Claim]) -> Rows:
    rows = [[claim.text, HELD[claim.held], claim.evidence] for claim in checked]
    return [["claim of the paper's §6", "here", "accuracies"], *rows]


def repeats_table(changes: Mapping[str, Mapping[str, Changes]]) -> Rows:
    """How many outputs the filter for repeats changed, by setting and system."""
    totals: dict[str, Changes] = {}
    for by_system in changes.values():
        for system, counts in by_system.items():
            totals.setdefault(system, Counter()).update(counts)
    header = ["system", "setting", "votes, dev", "votes, test", "single models, dev", "single models, test"]
    columns = [(what, split) for what in ("voted", "single") for split in SPLITS]
    return [header] + [
        [SYSTEMS[system].title, setting, *(str(counts[column]) for column in columns)]
        for setting, by_system in (*changes.items(), ("all", totals))
        for system, counts in by_system.items()
    ]


def models_table(results: Sequence[PackResult]) -> Rows:
    """One model's accuracy on dev items, the mean of seeds and then of languages, and the time, by setting and kind."""
    models = [(model, result.seconds / len(result.models)) for result in results for model in result.models]
    kinds = grouped(models, lambda pair: (SETTINGS.index(pair[0].setting), pair[0].kind))
    rows = [["setting", "kind", "models", "accuracy", "seconds", "seconds per model"]]
    for (setting, kind), members in sorted(kinds.items()):
        languages = grouped((model for model, _ in members), lambda model: model.language).values()
        accuracy = fmean(fmean(max(0.0, model.dev_accuracy) for model in some) for some in languages)
        seconds = sum(share for _, share in members)
        numbers = f"{accuracy:.2f}", f"{seconds:.0f}", f"{seconds / len(members):.2f}"
        rows.append([SETTINGS[setting], kind, str(len(members)), *numbers])
    return [*rows, ["all", "", str(len(models)), "", f"{sum(share for _, share in models):.0f}", ""]]


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
    for setting in settings_in(dev):
        parts += [f"## Languages at {setting} (dev)\n", markdown(language_table(dev[setting], setting), 1)]
    if all(map(_of_paper, dev.values())):
        parts += ["## Claims\n", markdown(claims_table(claims(dev)), 3)]
    parts += ["## Outputs changed by the filter for repeats\n", markdown(repeats_table(changes), 2)]
    paper = [f"{count} for {SYSTEMS[system].title}" for system, count in published.numbers()["repeats"].items()]
    parts.append(REPEATS_NOTE.format(", ".join(paper)))
    parts += ["## Single models\n", markdown(models_table(results), 2), MODELS_NOTE]
    return "\n".join(parts)
