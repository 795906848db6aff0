"""Spanish verbs, conjugated by the package conjugate-esp of npm: simple tenses, as in Castile.

The affirmative imperative of the third person is the present subjunctive, which the package leaves out; so is *vamos*.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from models.sources import Row, Source
from models.sources.packages import Package, printed

SOURCE = Source(
    "spanish",
    "@jirimracek/conjugate-esp 2.3.6",
    "MIT",
    (
        Package("fast-diff", "1.2.0", "1b4630d8dee7ed0f470bf299ea31486cfb1fdf3a575a13ab797d5dfd3305ec6f", "npm"),
        Package(
            "@jirimracek/conjugate-esp",
            "2.3.6",
            "30fd09c7e2a9977608c59719f5e623fda6fe82d3a91c466bd439342d4caff777",
            "npm",
        ),
    ),
)
PERSONS = ("1;SG", "2;SG", "3;SG", "1;PL", "2;PL", "3;PL")
TENSES = {
    "Indicativo.Presente": "V;IND;PRS;{}",
    "Indicativo.PreteritoImperfecto": "V;IND;PST;{};IPFV",
    "Indicativo.PreteritoIndefinido": "V;IND;PST;{};PFV",
    "Indicativo.FuturoImperfecto": "V;IND;FUT;{}",
    "Indicativo.CondicionalSimple": "V;COND;{}",
    "Subjuntivo.Presente": "V;SBJV;PRS;{}",
    "Subjuntivo.PreteritoImperfectoRa": "V;SBJV;PST;{};LGSPEC1",
    "Subjuntivo.PreteritoImperfectoSe": "V;SBJV;PST;{}",
    "Subjuntivo.FuturoImperfecto": "V;SBJV;FUT;{}",
    "Imperativo.Afirmativo": "V;POS;IMP;{}",
    "Imperativo.Negativo": "V;NEG;IMP;{}",
}
SINGLE = {"Impersonal.Infinitivo": "V;NFIN", "Impersonal.Gerundio": "V.CVB;PRS"}
PARTICIPLE = {"o": "MASC;SG", "a": "FEM;SG", "os": "MASC;PL", "as": "FEM;PL"}
"""Endings of a participle, which is given as masculine singular."""
PROGRAM = """
const [fastDiff, conjugate] = process.argv.slice(1);
const Module = require("module");
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) =>
  resolve(name === "fast-diff" ? fastDiff + "/package/diff.js" : name, ...rest);
const { Conjugator } = require(conjugate + "/package/dist/index.js");
const conjugator = new Conjugator();
for (const verb of conjugator.getVerbListSync())
  for (const { info, conjugation } of conjugator.conjugateSync(verb, "castellano"))
    for (const [mood, tenses] of Object.entries(conjugation))
      for (const [tense, forms] of Object.entries(tenses))
        [forms].flat().forEach((form, number) => console.log([verb, mood + "." + tense, number, form].join("\\t")));
"""


def rows(*packages: Path) -> Iterator[Row]:
    """Verbs without reflexive pronouns; `-` and missing forms are left out."""
    yield from parsed(printed(["node", "-e"], list(packages), PROGRAM))


def parsed(lines: Iterable[list[str]]) -> Iterator[Row]:
    """Of lines of lemma, tense, number in the tense, and form."""
    for lemma, tense, number, form in lines:
        if lemma.endswith("se") or form in ("-", "", "undefined"):
            continue
        if tense in TENSES:
            yield Row(lemma, form, TENSES[tense].format(PERSONS[int(number)]))
        elif tense in SINGLE:
            yield Row(lemma, form, SINGLE[tense])
        elif tense == "Impersonal.Participio":
            for participle in form.split("/"):
                for ending, bundle in PARTICIPLE.items():
                    yield Row(lemma, participle[:-1] + ending, f"V.PTCP;PST;{bundle}")
