"""The tables of a benchmark, as rows of text with the header first, and as a page of Markdown."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from reinflect.data.items import grouped
from reinflect.ensemble.strategies import RUNS
from reinflect.paper import published
from reinflect.paper.combine import COMPARED, NOT_WRITTEN, SPLITS, Changes, Figures, Scores, accuracies
from reinflect.paper.corpora import SETTINGS, settings_in, title
from reinflect.run.packs import PackResult
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
        rows.append([setting, "ours", *map(_number, ours)])
        if _of_paper(figures, setting):
            rows.append(["", "paper", *(_number(number, "") for number in theirs)])
            rows.append(["", "difference", *map(_difference, ours, theirs)])
    return rows


def _of_paper(figures: Figures, setting: str) -> bool:
    """Whether the paper has all languages of a setting."""
    scores = figures[setting].values()
    return all(name in published.numbers()["languages"] for score in scores for name in score.languages)


def _number(number: float | None, form: str = ".2f") -> str:
    return NOTHING if number is None else format(number, form)


def _difference(first: float | None, second: float | None) -> str:
    return NOTHING if first is None or second is None else f"{first - second:+.2f}"


def languages_note(figures: Figures) -> str:
    """The number of languages averaged: not every system need be finished in every language."""
    counts = {s: sorted({len(score.languages) for score in figures[s].values()}) for s in settings_in(figures)}
    parts = [f"{' to '.join(map(str, dict.fromkeys((few[0], few[-1]))))} ({s})" for s, few in counts.items()]
    fewer = any(_of_paper(figures, s) and few != [LANGUAGES_OF_THE_PAPER[s]] for s, few in counts.items())
    paper = " The paper averages 52 (high: 51); where ours are fewer, the difference means little."
    return f"Languages averaged: {', '.join(parts)}.{paper if fewer else ''}\n"


def combining_table(figures: Figures, systems: Mapping[str, str] = WAYS) -> Rows:
    """Run 6 and other combinations of members."""
    settings, rows = settings_in(figures), []
    for system, name in systems.items():
        averages = [getattr(figures[setting].get(system), "accuracy", None) for setting in settings]
        rows.append([name, *map(_number, averages)])
    return [["", *settings], *rows]


def seen_table(figures: Figures) -> Rows:
    """Accuracy on items whose bundle the training items have, and on the others, with the number of items."""
    columns = [(setting, part) for setting in settings_in(figures) for part in ("seen", "unseen")]
    rows = [["", *map(", ".join, columns)]]
    for system in dict.fromkeys(system for setting in settings_in(figures) for system in figures[setting]):
        parts = [getattr(figures[setting].get(system), part, None) for setting, part in columns]
        rows.append([system, *(f"{part.accuracy:.2f} % of {part.items}" if part else NOTHING for part in parts)])
    return rows


def language_table(figures: Figures, setting: str) -> Rows:
    """Naive and smart in every language, and Run 7 with the published one; else, all systems."""
    by_system = {
        system: accuracies(figures, setting, system) for system in (*figures[setting], *KINDS.values(), "run7")
    }
    names = sorted({name for of_system in by_system.values() for name in of_system})
    if not _of_paper(figures, setting):
        systems = [system for system in figures[setting] if system not in NOT_WRITTEN]
        rows = [[title(name), *(_number(by_system[system].get(name)) for system in systems)] for name in names]
        return [["language", *systems], *(row for row in rows if set(row[1:]) != {NOTHING})]
    rows = [["language", "HACM N", "S", "N − S", "HAEM N", "S", "N − S", "Run 7", "published (test)", "next best"]]
    for name in names:
        cells = []
        for system in ("hacm", "haem"):
            naive, smart = (by_system[f"{system}-{alignment}"].get(name) for alignment in ("naive", "smart"))
            cells += [_number(naive), _number(smart), _difference(naive, smart)]
        theirs = published.of_language(name, setting) or (None, None)
        run7 = _number(by_system["run7"].get(name))
        rows.append([title(name), *cells, run7, *(_number(number, ".1f") for number in theirs)])
    return rows


def claims_table(checked: Sequence[published.Claim]) -> Rows:
    rows = [[claim.text, HELD[claim.held], claim.evidence] for claim in checked]
    return [["claim of the paper's §6", "here", "accuracies"], *rows]


def repeats_table(changed: Sequence[tuple[str, Mapping[str, Changes]]]) -> Rows:
    """How many outputs the filter for repeats changed, by setting and system."""
    rows = [["system", "setting", "votes, dev", "votes, test", "single models, dev", "single models, test"]]
    for setting in (*dict.fromkeys(setting for setting, _ in changed), "all"):
        sums: dict[str, Changes] = {}
        for by_system in (by_system for other, by_system in changed if setting in (other, "all")):
            for system, counts in by_system.items():
                sums.setdefault(system, Counter()).update(counts)
        for system, total in sums.items():
            numbers = [str(total[what, split]) for what in ("voted", "single") for split in SPLITS]
            rows.append([SYSTEMS[system].title, setting, *numbers])
    return rows


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
    scores: Scores,
    *,
    about: Sequence[str],
    changed: Sequence[tuple[str, Mapping[str, Changes]]],
    results: Sequence[PackResult],
) -> str:
    """All tables; `changed` has the changes by the filter for repeats, by system, in each language of a setting."""
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
        parts += [f"## Languages at {setting} (dev)\n", markdown(language_table(dev, setting), 1)]
    if all(_of_paper(dev, setting) for setting in dev):
        parts += ["## Claims\n", markdown(claims_table(published.claims(dev)), 3)]
    parts += ["## Outputs changed by the filter for repeats\n", markdown(repeats_table(changed), 2)]
    paper = [f"{count} for {SYSTEMS[system].title}" for system, count in published.numbers()["repeats"].items()]
    parts.append(REPEATS_NOTE.format(", ".join(paper)))
    parts += ["## Single models\n", markdown(models_table(results), 2), MODELS_NOTE]
    return "\n".join(parts)
