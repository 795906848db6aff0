"""Which bundle of our paradigms a source means by `IND;3;SG;PST;V;FIN`, `pos=V,mood=IND,…` or `V;IND;PST;NOM(3,SG)`.

A paradigm is a list of bundles with one spelling for each cell. Sources spell bundles in any order, with layers, with
keys, and with atoms that tell no two cells of ours apart (the gender of a noun, `FIN`). What a spelling means is first
what its atoms say, and else what the forms prove: where a source and the table both have a lemma, the forms of the
spelling must be those of the bundle.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from models.sources import Row
from models.sources.atoms import Atoms, atoms, part_of_speech
from models.sources.recipes import Recipe

FEWEST, SHARE = 4, 0.9
"""Cells of both the source and the table that prove a bundle, and the share of them with the same form."""
DOUBT = 0.5
"""A bundle with less than this share is refused, whatever its atoms say."""
UNSAID = set("FIN IND ACT POS INAN ANIM HUM NHUM MASC FEM NEUT MASC+FEM PFV IPFV V".split())
"""Atoms that some sources write in every cell, and others only where they tell two cells apart."""
UNUSED = UNSAID | set("NOM INDF FH REFL SG LGSPEC1 TR".split())
"""Atoms that mean nothing where no cell of a part of speech has them."""
UNSAID_WITH = {"IMP": {"PRS"}, "COND": {"PRS", "FUT"}, "NFIN": {"PRS"}, "V.CVB": {"PRS"}, "POT": {"PRS"}}
"""Tenses that go without saying in a mood."""
DEFAULTS: tuple[tuple[str, ...], ...] = ((), ("NOM",), ("ACC/NOM",), ("POS",), ("NOM", "POS"), ("ACT",), ("ACT", "POS"))
"""What a bundle may lack."""
PERSONS = set("0 1 2 3 1/2/3".split())
"""Of verbs; nouns and adjectives have no other than the third."""
FOLDER = Path(__file__).parent / "meanings"
REFUSED = ""
"""The bundle of a spelling that forms contradict."""
Forms = Mapping[str, Mapping[str, set[str]]]
"""The forms of known cells by lemma and bundle."""


class Paradigms:
    """The bundles of a language, one for each cell of a paradigm, and what spellings of sources mean."""

    def __init__(self, bundles: Iterable[str], recipe: Recipe | None = None) -> None:
        self.bundles = list(bundles)
        self.recipe = recipe or Recipe()
        self.by_atoms: dict[Atoms, str] = {}
        for bundle in self.bundles:
            other = self.by_atoms.setdefault(self.recipe.replaced(atoms(bundle)), bundle)
            if other != bundle:
                raise ValueError(f"two spellings of one cell: {other} and {bundle}")
        self.used: dict[str, set[str]] = defaultdict(set)
        for several in self.by_atoms:
            self.used[part_of_speech(several)].update(several)
        self.meanings: dict[Atoms, str] = {}
        """Bundles of spellings that are not the bundle itself."""
        self._agree: dict[Atoms, Counter[str]] = defaultdict(Counter)
        self._of: dict[Atoms, Counter[str]] = defaultdict(Counter)
        self._said: dict[str, Atoms] = {}

    def said(self, row: Row, *, exact: bool = False) -> Atoms:
        """The atoms of a row's bundle, as `languages.toml` corrects them; `exact` leaves those of our bundles alone."""
        said = self._said.get(row.bundle)
        if said is None:
            said = self._said[row.bundle] = self.recipe.replaced(atoms(row.bundle))
        return said if exact and said in self.by_atoms else self.recipe.corrected(said, row)

    def meaning(self, said: Atoms) -> str | None:
        """The bundle that a spelling means."""
        if said in self.meanings:
            return self.meanings[said] or None
        return self.by_atoms.get(said) or self.spelled(said)

    def spelled(self, said: Atoms) -> str | None:
        """The bundle of these atoms, less those that no cell of its part of speech has, or that go without saying.

        A bundle without a case is a nominative.
        """
        if exact := self.recipe.spellings.get(said):
            return exact
        part = part_of_speech(said)
        used = self.used.get(part, set())
        unsaid = set().union(*(UNSAID_WITH.get(atom, set()) for atom in said))
        unused = UNUSED | unsaid | (PERSONS if part in {"N", "ADJ"} else set())
        if any(atom not in used | unused for atom in said):
            return None
        known = [atom for atom in said if atom in used]
        for fewer in (known, [atom for atom in known if atom not in unsaid]):
            for default in DEFAULTS:
                if found := self.by_atoms.get(tuple(sorted([*fewer, *default]))):
                    return found
        rest = UNSAID | unsaid | (unused - used)
        parts = [cell for cell in self.by_atoms if set(cell) <= set(said) and set(said) - set(cell) <= rest]
        largest = max(map(len, parts), default=0)
        fitting = [cell for cell in parts if len(cell) == largest]
        return self.by_atoms[fitting[0]] if len(fitting) == 1 else None

    def compare(self, rows: Sequence[tuple[Atoms, Row]], table: Forms) -> None:
        """Learn what the spellings of a source mean from cells that the table has, too."""
        cells: dict[tuple[Atoms, str], set[str]] = defaultdict(set)
        for said, row in rows:
            cells[said, row.lemma].add(row.form)
        for (said, lemma), forms in cells.items():
            for bundle, known in table.get(lemma, {}).items():
                self._of[said][bundle] += 1
                self._agree[said][bundle] += not forms.isdisjoint(known)
        spellings = {said for said, _ in cells}
        for said in spellings:
            meaning = self._proved(said)
            if meaning is not None and meaning != self.by_atoms.get(said):
                self.meanings[said] = meaning
            else:
                self.meanings.pop(said, None)

    def _proved(self, said: Atoms) -> str | None:
        if exact := self.by_atoms.get(said):
            return exact  # where sources have other forms in its cells, the forms are variants or wrong
        agree, of = self._agree[said], self._of[said]
        if bundle := self.spelled(said):
            by_hand = said in self.recipe.spellings
            return REFUSED if not by_hand and of[bundle] >= FEWEST and agree[bundle] < DOUBT * of[bundle] else bundle
        part = part_of_speech(said)
        proved = [
            bundle
            for bundle in agree
            if agree[bundle] >= max(FEWEST, SHARE * of[bundle]) and part_of_speech(atoms(bundle)) == part
        ]
        key = lambda bundle: (alike(said, atoms(bundle)), agree[bundle] / of[bundle], bundle)  # noqa: E731
        return max(proved, key=key) if proved else None


def alike(bundle: Atoms, other: Atoms) -> float:
    """The share of their atoms that two bundles have in common."""
    return len(set(bundle) & set(other)) / len(set(bundle) | set(other))


def read_meanings(language: str, folder: Path = FOLDER) -> dict[Atoms, str]:
    """The committed mapping of a language: spellings, and the bundles they mean."""
    path = folder / f"{language}.tsv"
    if not path.exists():
        return {}
    lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {tuple(said.split(" ")): "" if bundle == "-" else bundle for said, bundle in lines}


def write_meanings(language: str, meanings: Mapping[Atoms, str], folder: Path = FOLDER) -> None:
    """One line a spelling, in order; the bundle of a refused one is `-`."""
    lines = sorted(f"{' '.join(said)}\t{bundle or '-'}\n" for said, bundle in meanings.items())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{language}.tsv").write_text("".join(lines), encoding="utf-8")
