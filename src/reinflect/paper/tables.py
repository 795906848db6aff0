"""The results as a page of Markdown that can be read as it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reinflect.ensembles.vote import RUNS
from reinflect.execution.results import PackResult
from reinflect.experiments.combine import COMPARED, Changes, Scores
from reinflect.experiments.figures import Average
from reinflect.paper import published
from reinflect.paper.claims import SETTINGS, Claim, claims, title
from reinflect.text import Side, in_columns

NOTHING = "–"
TIME_NOTE = "Seconds of packs, decoding and all, each shared out among its models; on a CPU packs run side by side.\n"
LANGUAGES_OF_THE_PAPER = {"low": 52, "medium": 52, "high": 51}


@dataclass(frozen=True)
class Column:
    """A column of the paper's table: which figure of which system."""

    head: str
    system: str
    distance: bool = False


COLUMNS = (
    Column("HACM N", "hacm-naive"),
    Column("HACM S", "hacm-smart"),
    Column("HAEM N", "haem-naive"),
    Column("HAEM S", "haem-smart"),
    Column("soft", "soft"),
    *(Column(run.title, run.name) for run in RUNS),
    Column("Run 7 Lev", "run7", distance=True),
    Column("baseline", "baseline"),
    Column("Lev", "baseline", distance=True),
)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]], sides: Sequence[Side]) -> str:
    """A table whose columns are in line in the source, too."""
    marks = ["---" if side == "left" else "--:" for side in sides]
    lines = in_columns([header, marks, *rows], " | ", sides)
    widest = max(map(len, lines))  # the last column lost its blanks
    return "".join(f"| {line.ljust(widest)} |\n" for line in lines)


def _sides(words: int, numbers: int) -> list[Side]:
    sides: list[Side] = ["left"] * words
    return sides + ["right"] * numbers


def main_table(figures: Mapping[str, Mapping[str, Average]], split: str) -> str:
    header, *rows = main_rows(figures, split)
    return markdown(header, rows, _sides(2, len(COLUMNS)))


def main_rows(figures: Mapping[str, Mapping[str, Average]], split: str) -> list[list[str]]:
    """The paper's table of results, header first: ours, the paper's, and the difference, setting after setting."""
    rows = [[split, "", *(column.head for column in COLUMNS)]]
    for setting in (setting for setting in SETTINGS if setting in figures):
        ours = [_ours(figures[setting], column) for column in COLUMNS]
        theirs = [_theirs(split, setting, column) for column in COLUMNS]
        rows.append([setting, "ours", *(_figure(own, 2) for own in ours)])
        rows.append(["", "paper", *(NOTHING if own is None else str(own) for own in theirs)])
        gaps = [None if a is None or b is None else a - b for a, b in zip(ours, theirs, strict=True)]
        rows.append(["", "difference", *(NOTHING if gap is None else f"{gap:+.2f}" for gap in gaps)])
    return rows


def _ours(figures: Mapping[str, Average], column: Column) -> float | None:
    score = figures.get(column.system)
    return None if score is None else score.levenshtein if column.distance else score.accuracy


def _theirs(split: str, setting: str, column: Column) -> float | None:
    look = published.levenshtein if column.distance else published.accuracy
    return look(split, setting, column.system)


def _figure(number: float | None, digits: int) -> str:
    return NOTHING if number is None else f"{number:.{digits}f}"


def languages_note(figures: Mapping[str, Mapping[str, Average]]) -> str:
    """What the averages are over; not all systems need have come to an end in all languages."""
    parts, other = [], False
    for setting in (setting for setting in SETTINGS if setting in figures):
        counts = sorted({len(score.languages) for score in figures[setting].values()})
        other = other or counts != [LANGUAGES_OF_THE_PAPER[setting]]
        many = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        parts.append(f"{setting} {many}")
    text = f"Macro averages over so many languages: {', '.join(parts)}."
    return text + (
        " The paper's are over 52, at high 51: where ours are over others, the difference says little.\n"
        if other
        else "\n"
    )


def combining_table(figures: Mapping[str, Mapping[str, Average]]) -> str:
    """Run 6 and what else could be made of the best members."""
    systems = {
        "run6": "vote of the best 15 (Run 6)",
        COMPARED[0]: "vote of the best 7",
        COMPARED[1]: "their probabilities averaged, best 15",
    }
    header = ["", *(setting for setting in SETTINGS if setting in figures)]
    rows = [
        [name, *(_figure(_ours(figures[setting], Column("", system)), 2) for setting in header[1:])]
        for system, name in systems.items()
    ]
    return markdown(header, rows, _sides(1, len(header) - 1))


def language_table(figures: Mapping[str, Average], setting: str) -> str:
    header, *rows = language_rows(figures, setting)
    return markdown(header, rows, _sides(1, len(header) - 1))


def language_rows(figures: Mapping[str, Average], setting: str) -> list[list[str]]:
    """Naive against smart in every language, header first, and Run 7 beside the published one."""
    header = ["language", "HACM N", "S", "N − S", "HAEM N", "S", "N − S", "Run 7", "published (test)", "next best"]
    kinds = ("hacm-naive", "hacm-smart", "haem-naive", "haem-smart")
    names = sorted({name for score in figures.values() for name in score.languages})
    rows = [header]
    for name in names:
        own = [_of_language(figures, kind, name) for kind in kinds]
        cells = []
        for naive, smart in (own[:2], own[2:]):
            gap = NOTHING if naive is None or smart is None else f"{naive - smart:+.2f}"
            cells += [_figure(naive, 2), _figure(smart, 2), gap]
        theirs = published.of_language(name, setting) or (None, None)
        run7 = _of_language(figures, "run7", name)
        rows.append([title(name), *cells, _figure(run7, 2), *(_figure(figure, 1) for figure in theirs)])
    return rows


def _of_language(figures: Mapping[str, Average], system: str, language: str) -> float | None:
    score = figures.get(system)
    return score.languages[language].accuracy if score and language in score.languages else None


def claims_table(found: Sequence[Claim]) -> str:
    words = {True: "held", False: "not held", None: "not checked"}
    rows = [(claim.text, words[claim.held], claim.evidence) for claim in found]
    return markdown(("claim of the paper's §6", "here", "accuracies"), rows, _sides(3, 0))


def repeats_table(changes: Mapping[str, Mapping[str, Changes]]) -> str:
    """By setting and system, how many outputs the filter for repeats changed."""
    header = ["system", "setting", "votes, dev", "votes, test", "single models, dev", "single models, test"]
    rows, totals = [], {system: Changes() for by_system in changes.values() for system in by_system}
    for setting, by_system in changes.items():
        for system, own in by_system.items():
            totals[system].add(own)
            rows.append([system.upper(), setting, *_counts(own)])
    for system, own in totals.items():
        rows.append([system.upper(), "all", *_counts(own)])
    return markdown(header, rows, _sides(2, 4))


def _counts(changes: Changes) -> list[str]:
    return [str(counts[split]) for counts in (changes.voted, changes.single) for split in ("dev", "test")]


def time_table(results: Sequence[PackResult]) -> str:
    """Where the time of training and decoding went, by setting and system."""
    seconds: dict[tuple[str, str], float] = {}
    models: dict[tuple[str, str], int] = {}
    for result in results:
        for model in result.models:
            place = (model.setting, result.system)
            seconds[place] = seconds.get(place, 0.0) + result.seconds / len(result.models)
            models[place] = models.get(place, 0) + 1
    rows = [
        [setting, system.upper(), str(models[setting, system]), f"{own:.0f}", f"{own / models[setting, system]:.2f}"]
        for (setting, system), own in sorted(seconds.items(), key=lambda one: (SETTINGS.index(one[0][0]), one[0][1]))
    ]
    rows.append(["all", "", str(sum(models.values())), f"{sum(seconds.values()):.0f}", ""])
    header = ["setting", "system", "models", "seconds", "seconds a model"]
    return markdown(header, rows, _sides(2, 3))


def page(
    scores: Scores,
    *,
    about: Sequence[str],
    changes: Mapping[str, Mapping[str, Changes]],
    results: Sequence[PackResult],
) -> str:
    """Everything."""
    parts = ["# Benchmark\n", "".join(f"- {line}\n" for line in about)]
    for split, figures in scores.items():
        if figures:
            parts += [f"## Accuracy on {split}\n", main_table(figures, split), languages_note(figures)]
            parts += [f"### Ways to combine ({split})\n", combining_table(figures)]
            if any("run7" in by_system for by_system in figures.values()):
                parts += [f"### Every language ({split})\n", f"![accuracy of every language](languages-{split}.svg)\n"]
    dev = scores["dev"]
    for setting in (setting for setting in SETTINGS if setting in dev):
        parts += [f"## Languages at {setting} (dev)\n", language_table(dev[setting], setting)]
    parts += ["## Claims\n", claims_table(claims(dev))]
    parts += ["## Outputs changed by the filter for repeats\n", repeats_table(changes), _repeats_note()]
    parts += ["## Time\n", time_table(results), TIME_NOTE]
    return "\n".join(parts)


def _repeats_note() -> str:
    theirs = ", ".join(f"{published.repeats(system)} for {system.upper()}" for system in ("hacm", "haem"))
    return (
        "Votes: outputs of E(N) and E(S) that the filter replaces by the lemma, had it not been applied to each model "
        f"before. The paper has, of test items, {theirs}.\n"
    )
