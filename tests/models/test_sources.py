"""The sources of the pocket languages, on ten rows of each, and what their bundles mean."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from models.sources import (
    Row,
    albanian_uniparser,
    english_lists,
    german_nouns,
    german_verbs_adjectives,
    icelandic_bin,
    italian_morphit,
    polish_sgjp,
    russian_opencorpora,
    spanish_verbs,
    verb_tables,
)
from models.sources.__main__ import write_table
from models.sources.atoms import atoms
from models.sources.bundles import Paradigms
from models.sources.packages import Package, printed
from models.sources.recipes import Recipe, expanded, recipe_of
from models.sources.tables import DICTIONARIES, Evidence, Table, doubtful, paradigms_of
from models.sources.wide import credit, treebanks, unimorph

RAW = Path(__file__).parent / "raw"
"""Rows as the packages have them."""


def forms(rows: Iterable[Row], lemma: str) -> dict[str, list[str]]:
    """The forms of a lemma by bundle."""
    result: dict[str, list[str]] = {}
    for row in rows:
        if row.lemma == lemma:
            result.setdefault(row.bundle, []).append(row.form)
    return result


def written(folder: Path, name: str, content: Any) -> Path:
    """A package with one JSON file, as npm unpacks it."""
    path = folder / name / "package" / "dist" / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return folder / name


def test_german_nouns_have_variants_and_no_names(tmp_path: Path) -> None:
    (tmp_path / "german_nouns").mkdir()
    copy(RAW / "german_nouns.csv", tmp_path / "german_nouns" / "nouns.csv")
    rows = list(german_nouns.rows(tmp_path))
    assert forms(rows, "Mann")["N;NOM;PL"] == ["Männer", "Mannen"]
    assert forms(rows, "Herz")["N;GEN;SG"] == ["Herzens", "Herzes"]
    assert forms(rows, "Angestellter")["N;NOM;SG"] == ["Angestellter"]
    assert not {"Berlin", "-algie"} & {row.lemma for row in rows}


def test_german_verbs_with_prefixes(tmp_path: Path) -> None:
    verbs = {"abholen": {"hasPrefix": True, "INF": "abholen", "PRÄ": {"S": {"1": ["hole", "ab"]}}, "PA2": ["abgeholt"]}}
    packages = written(tmp_path, "verbs", verbs), written(tmp_path, "adjectives", {})
    expected = {"V;IND;PRS;1;SG": ["hole ab"], "V.PTCP;PST": ["abgeholt"], "V;NFIN": ["abholen"]}
    assert forms(german_verbs_adjectives.rows(*packages), "abholen") == expected


def test_german_verbs_and_adjectives(tmp_path: Path) -> None:
    persons = {"1": "gehe", "2": ["gehst", "gehest"], "3": "geht"}
    verbs = {"gehen": {"INF": "gehen", "PA2": ["gegangen"], "PRÄ": {"S": persons, "P": None}, "IMP": {"P": "geht"}}}
    declensions = {"SOL": {"M": "guter", "P": "gute"}, "DEF": {"M": "gute"}, "IND": {"M": "guter"}, "X": None}
    packages = written(tmp_path, "verbs", verbs), written(tmp_path, "adjectives", {"gut": {"NOM": declensions}})
    rows = list(german_verbs_adjectives.rows(*packages))
    assert forms(rows, "gehen") == {
        "V;IND;PRS;1;SG": ["gehe"],
        "V;IND;PRS;2;SG": ["gehst", "gehest"],
        "V;IND;PRS;3;SG": ["geht"],
        "V;IMP;2;PL": ["geht"],
        "V.PTCP;PST": ["gegangen"],
        "V;NFIN": ["gehen"],
    }
    strong = {"ADJ;STRONG;NOM;MASC;SG": ["guter"], "ADJ;STRONG;NOM;PL": ["gute"]}
    assert forms(rows, "gut") == {"ADJ": ["gut"], **strong, "ADJ;WEAK;NOM;MASC;SG": ["gute"]}


def test_english_lists(tmp_path: Path) -> None:
    plurals = written(tmp_path, "plurals", {"ox": "oxen", "child": "children"})
    lemminflect, pyinflect = tmp_path / "lemminflect" / "resources", tmp_path / "pyinflect"
    lemminflect.mkdir(parents=True)
    pyinflect.mkdir()
    (lemminflect / "infl_lu.csv.gz").write_bytes(gzip.compress((RAW / "lemminflect.csv").read_bytes()))
    copy(RAW / "pyinflect.csv", pyinflect / "infl.csv")
    rows = list(english_lists.rows(plurals, tmp_path, tmp_path))
    assert forms(rows, "ox")["N;PL"][0] == "oxen"
    assert forms(rows, "go")["V;PST"] == ["went", "went"]
    assert forms(rows, "walk")["V.PTCP;PST"] == ["walked"]
    assert forms(rows, "be")["V;PST"] == ["was"]
    assert forms(rows, "good")["ADJ;SPRL"] == ["best", "best"]
    assert "Aaron" not in {row.lemma for row in rows}


@pytest.mark.parametrize(
    ("language", "lemma", "bundle", "form"),
    [
        ("italian", "essere", "V;IND;PRS;3;SG", "è"),
        ("italian", "avere", "V;IND;PST;3;SG;PFV", "ebbe"),
        ("italian", "avere", "V;SBJV;PST;3;PL", "avessero"),
        ("dutch", "gaan", "V;IND;PST;2;SG", "ging"),
        ("dutch", "zijn", "V.PTCP;PST", "geweest"),
    ],
)
def test_verb_tables(tmp_path: Path, language: str, lemma: str, bundle: str, form: str) -> None:
    name, _ = verb_tables.FILES[language]
    folder = tmp_path / "pattern" / "text" / name
    folder.mkdir(parents=True)
    copy(RAW / f"{name}-verbs.txt", folder)
    assert forms(verb_tables.rows(tmp_path, language), lemma)[bundle] == [form]


def test_morph_it_without_infinitives_that_have_a_pronoun(tmp_path: Path) -> None:
    andare = {
        "ind": {"past": {"S3": "andò"}},
        "inf": {"pres": "andarvi"},
        "part": {"past": {"S": "andato", "PF": "andate"}},
    }
    packages = (
        written(tmp_path, "verbs", {"andare": andare}),
        written(tmp_path, "words", {"uomo": {"G": "M", "P": "uomini"}, "sale": {"G": "M"}}),
        written(tmp_path, "adjectives", {"rosso": {"MP": "rossi", "FS": "rossa", "FP": "rosse"}}),
    )
    rows = list(italian_morphit.rows(*packages))
    participles = {"V.PTCP;PST;MASC;SG": ["andato"], "V.PTCP;PST;FEM;PL": ["andate"]}
    assert forms(rows, "andare") == {"V;IND;PST;3;SG;PFV": ["andò"], **participles}
    assert forms(rows, "uomo") == {"N;SG": ["uomo"], "N;PL": ["uomini"]}
    assert forms(rows, "rosso")["ADJ;FEM;PL"] == ["rosse"]


SPANISH = """
ir Indicativo.Presente 0 voy V;IND;PRS;1;SG
ir Indicativo.PreteritoIndefinido 2 fue V;IND;PST;3;SG;PFV
ir Subjuntivo.PreteritoImperfectoSe 3 fuésemos V;SBJV;PST;1;PL
ir Impersonal.Gerundio 0 yendo V.CVB;PRS
ir Imperativo.Afirmativo 0 - -
ir Indicativo.PreteritoPerfecto 0 he_ido -
irse Indicativo.Presente 0 voy -
"""
POLISH = """
człowiek ludzi subst:pl:gen.acc:m1 N;GEN;PL N;ACC;PL
dobry dobrzy adj:pl:nom.voc:m1:pos ADJ;MASC;HUM;NOM;PL
dobry dobrego adj:sg:acc:m1.m2:pos ADJ;MASC;HUM;ACC;SG ADJ;MASC;ANIM;ACC;SG
dobry lepsze adj:pl:nom.voc:m2.m3.f.n:com ADJ;NOM;PL;CMPR
zrobić zrobię fin:sg:pri:perf V;FUT;1;SG
robić robi fin:sg:ter:imperf V;PRS;3;SG
być będą bedzie:pl:ter:imperf V;FUT;3;PL
iść idź impt:sg:sec:imperf V;IMP;2;SG
iść iść inf:imperf V;NFIN
robić robienie ger:sg:nom.acc:n:imperf:aff V.MSDR
iść idących pact:pl:acc:m1:imperf:aff -
"""
RUSSIAN = """
ребёнок ребёнку NOUN,anim,masc,sing,datv N;SG;DAT
новый нового ADJF,Qual,anim,masc,sing,accs ADJ;ANIM;MASC;SG;ACC
новый нов ADJS,Qual,masc,sing ADJ;LGSPEC1;MASC;SG
идти идёт VERB,impf,intr,sing,3per,pres,indc V;SG;3;PRS
идти идти INFN,impf,intr V;NFIN
читать читающий PRTF,impf,tran,pres,actv,masc,sing,nomn V.PTCP;PRS;ACT;MASC;SG;NOM
читать читающего PRTF,impf,tran,pres,actv,masc,sing,gent -
читать читая GRND,impf,tran,pres V.CVB;PRS
лес лесу NOUN,inan,masc,sing,loc2 -
Анна Анна NOUN,anim,femn,Name,sing,nomn -
"""
ALBANIAN = """
dorë duarve NOUN,f,inanim,alb,pl,gen_dat,def N;PL;GEN;DEF N;PL;DAT;DEF
dorë dorë NOUN,f,inanim,alb,sg,nom,indef N;SG;NOM;NDEF
jam është V,vi,alb,3,sg,pres,ind,act V;3;SG;PRS;IND
jam jetë V,vi,alb,3,sg,pres,sbjv,act V;3;SG;PRS;SBJV
dorë duarsh NOUN,f,inanim,alb,pl,abl2,indef -
mirë mirë ADV -
"""
ICELANDIC = """
maður kk manni ÞGFET N;INDF;DAT;SG
maður kk mannanna EFFTgr N;DEF;GEN;PL
hönd kvk hönd ÞGFET2 N;INDF;DAT;SG
góður lo bestir ESB-KK-NFFT ADJ;STRONG;SPRL;MASC;NOM;PL
góður lo góða FVB-KVK-NFET ADJ;WEAK;FEM;NOM;SG
vera so er GM-FH-NT-3P-ET V;IND;PRS;3;SG
vera so sértu SP-GM-VH-NT-2P-ET -
vera so vera GM-NH V;NFIN
vera so verið GM-SAGNB V.CVB
fara so farist MM-NH -
"""


@pytest.mark.parametrize(
    ("parsed", "table", "columns"),
    [
        (spanish_verbs.parsed, SPANISH, 4),
        (polish_sgjp.parsed, POLISH, 3),
        (russian_opencorpora.parsed, RUSSIAN, 3),
        (albanian_uniparser.parsed, ALBANIAN, 3),
        (icelandic_bin.parsed, ICELANDIC, 4),
    ],
)
def test_lines_that_a_package_prints(parsed: Any, table: str, columns: int) -> None:
    """Each line is what the package prints, and then the bundles of the rows it becomes, or `-`."""
    for line in table.strip().splitlines():
        *words, bundles = line.split(" ", columns)
        assert {row.bundle for row in parsed([words])} == set(bundles.split()) - {"-"}, line


def test_polish_past_tenses_are_made_of_stems() -> None:
    lines = [["nieść", "niósł", "praet:sg:m1.m2.m3:imperf:nagl"], ["nieść", "niosł", "praet:sg:m1.m2.m3:imperf:agl"]]
    lines.append(["nieść", "nieśli", "praet:pl:m1:imperf"])
    expected = {
        "V;PST;3;SG;MASC": ["niósł"],
        "V;PST;1;SG;MASC": ["niosłem"],
        "V;PST;2;SG;MASC": ["niosłeś"],
        "V;COND;1;SG;MASC": ["niósłbym"],
        "V;PST;1;PL;MASC;HUM": ["nieśliśmy"],
        "V;COND;3;PL;MASC;HUM": ["nieśliby"],
    }
    rows = forms(polish_sgjp.parsed(lines), "nieść")
    assert {bundle: rows.get(bundle) for bundle in expected} == expected


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ("N;DAT;PL", "DAT N PL"),
        ("N;DAT(PL)", "DAT N PL"),
        ("pos=N,case=DAT,gen=MASC,num=PL", "DAT MASC N PL"),
        ("V;IND;PST;NOM(3,SG)", "3 IND PST SG V"),
        ("V.PTCP;NOM;MASC", "MASC NOM V.PTCP"),
        ("V;PRF;PRF", "PRF PRF V"),
        ("N;NDEF;SG", "INDF N SG"),
        ("N;{NOM/ACC};SG", "ACC/NOM N SG"),
    ],
)
def test_atoms_of_every_spelling(spelled: str, expected: str) -> None:
    assert " ".join(atoms(spelled)) == expected


def test_two_spellings_of_one_cell_are_refused() -> None:
    with pytest.raises(ValueError, match="two spellings of one cell: N;PL;DAT and N;DAT;PL"):
        Paradigms(["N;PL;DAT", "N;DAT;PL"])


@pytest.mark.parametrize(
    ("spelled", "expected"),
    [
        ("V;IND;PRS;3;SG;FIN;IPFV;ACT", "V;PRS;3;SG"),
        ("ADJ;INAN;MASC;NOM;SG", "ADJ;NOM;MASC;SG"),
        ("ADJ;ACC;INAN;MASC;SG", "ADJ;ACC;INAN;MASC;SG"),
        ("V;PRS;3;SG;NEG", None),
        ("ADJ;NOM;MASC;FEM;SG", None),
        ("ADJ;ESS;MASC;SG", None),
        ("V;IMP;2;SG;PRS", "V;POS;IMP;2;SG"),
        ("ADJ;FEM;SG", "ADJ;NOM;FEM;SG"),
    ],
)
def test_atoms_that_go_without_saying(spelled: str, expected: str | None) -> None:
    cells = [
        "ADJ;NOM;MASC;SG",
        "ADJ;NOM;FEM;SG",
        "ADJ;ACC;INAN;MASC;SG",
        "V;PRS;3;SG",
        "V;NEG;IMP",
        "V;POS;IMP;2;SG",
        "V;IND;PST;ACT;FIN;IPFV",
    ]
    assert Paradigms(cells).spelled(atoms(spelled)) == expected


def test_what_bundles_mean() -> None:
    """By their atoms, without those that tell no cells apart, or else by the forms; never against the forms."""
    paradigms = Paradigms(["N;NOM;SG", "N;NOM;PL", "V;IND;PST;3;SG", "V.PTCP;PST"])
    lemmas = [f"{letter}en" for letter in "abcdef"]
    table = {
        lemma: {"V.PTCP;PST": {f"ge{lemma}"}, "V;IND;PST;3;SG": {f"{lemma}te"}, "N;NOM;PL": {lemma}} for lemma in lemmas
    }
    rows = [Row(lemma, f"ge{lemma}", "V.PTCP;V") for lemma in lemmas]
    rows += [Row(lemma, f"{lemma}te", "IND;3;SG;PST;V;FIN") for lemma in lemmas]
    rows += [Row(lemma, f"{lemma}s", "N;FEM;NOM;PL") for lemma in lemmas]
    rows += [Row("new", "new", "N;MASC;NOM;SG"), Row("new", "news", "ADJ;PL")]
    paradigms.compare([(atoms(row.bundle), row) for row in rows], table)
    assert paradigms.meanings == {
        atoms("V.PTCP;V"): "V.PTCP;PST",
        atoms("IND;3;SG;PST;V;FIN"): "V;IND;PST;3;SG",
        atoms("N;FEM;NOM;PL"): "",
        atoms("N;MASC;NOM;SG"): "N;NOM;SG",
    }
    assert paradigms.meaning(atoms("N;FEM;NOM;PL")) is None
    assert paradigms.meaning(atoms("N;NOM;SG")) == "N;NOM;SG"


def test_adjectives_may_have_the_cases_of_nouns() -> None:
    rows = [Row("ház", "házat", bundle) for bundle in ("N;ACC;SG", "N;ACC;SG;PSS1S", "V;NFIN")]
    bundles = ["N;ACC;SG", "N;ACC;SG;PSS1S", "V;NFIN"]
    assert paradigms_of(rows, Recipe(adjectives_like_nouns=True)).bundles == [*bundles, "ADJ;ACC;SG"]
    assert paradigms_of(rows, Recipe()).bundles == bundles


RECIPE = Recipe.read(
    {
        "bundles": ["V.PTCP;[PRS|PST]", "N;SG;[|DEF]"],
        "synonyms": {"ESS": "LOC", "ACT": ""},
        "lemmas": {"#": ""},
        "verb_lemmas": {"^kal$": "kalmak"},
        "nominal_forms": {"^mb": "b"},
        "forms": {"^(singular|plural)$": ""},
        "relabelled": [{"has": "N LOC", "drop": "LOC", "add": "NOM"}, {"has": "N NOM", "drop": "NOM", "add": "ACC"}],
        "rules": [
            {"has": "V.PTCP", "lacks": "PST", "form": "nd$", "drop": "V", "add": "PRS"},
            {"has": "N", "lacks": "PL", "same": True, "add": "SG"},
        ],
        "marks": "\u0301\u0304",
        "letters": "ć",
        "respelled": {"ə": "e"},
        "separable": True,
    }
)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Row("gaan", "gaand", "V;V.PTCP;ACT"), "PRS V.PTCP"),
        (Row("gaan", "gegaan", "V;V.PTCP"), "V V.PTCP"),
        (Row("ano", "ano", "N"), "N SG"),
        (Row("ano", "anos", "N"), "N"),
    ],
)
def test_rules_say_what_a_treebank_has_lost(row: Row, said: str) -> None:
    assert " ".join(Paradigms(RECIPE.bundles, RECIPE).said(row)) == said


def test_recipes_name_bundles_and_relabel_by_the_first_rule() -> None:
    assert RECIPE.bundles == ["V.PTCP;PRS", "V.PTCP;PST", "N;SG", "N;SG;DEF"]
    assert expanded("N;[|GEN];PL") == ["N;PL", "N;GEN;PL"]
    assert atoms(RECIPE.relabel(Row("a", "a", "N;LOC;SG")).bundle) == atoms("N;NOM;SG")
    assert RECIPE.relabel(Row("a", "a", "N;DAT;SG")).bundle == "N;DAT;SG"


@pytest.mark.parametrize(
    ("row", "part", "expected"),
    [
        (Row("kesä#kuu", "kesäkuu", "N"), "N", ("kesäkuu", "kesäkuu")),
        (Row("kal", "kaldı", "V"), "V", ("kalmak", "kaldı")),
        (Row("bean", "mbean", "N"), "N", ("bean", "bean")),
        (Row("krone", "kr.", "N"), "N", ("krone", "")),
        (Row("ház", "plural", "N"), "N", ("ház", "")),
    ],
)
def test_words_of_treebanks_are_cleaned(row: Row, part: str, expected: tuple[str, str]) -> None:
    cleaned = RECIPE.cleaned(row, part, treebank=True)
    assert (cleaned.lemma, cleaned.form) == expected


def test_a_dictionary_is_preferred_to_unimorph_alone() -> None:
    table = Table(Paradigms(["N;DAT;SG"]))
    table.add("conll2017", [Row("maður", "mann", "N;DAT;SG")])
    table.add("unimorph", [Row("maður", "mann", "N;DAT;SG")])
    table.add("bin", [Row("maður", "manni", "N;DAT;SG")])
    assert [cell.forms for cell in table.shipped()] == [["manni", "mann"]]


def test_headings_are_no_forms() -> None:
    table = Table(Paradigms(["N;PL", "ADJ;PL"]))
    table.add("unimorph", [Row("ház", "plural", "N;PL"), Row("positiv", "positive", "ADJ;PL")])
    table.add("unimorph", [Row("definit", "definite", "ADJ;PL"), Row("maður", "indefinite", "N;PL")])
    assert [cell.forms for cell in table.shipped()] == [["definite"], ["positive"]]


def test_marks_that_ordinary_text_lacks() -> None:
    """They are taken off where forms are compared; a table keeps the marked spelling."""
    assert RECIPE.plain("māćér pəs") == "maćer pes"
    assert RECIPE.key("hole ab") == RECIPE.key("abhole") == "abhole"
    table = Table(Paradigms(["N;PL", "V;PRS"], RECIPE))
    table.add("unimorph", [Row("rēx", "rēgēs", "N;PL"), Row("abholen", "hole ab", "V;PRS")])
    table.add("count", [Row("rex", "reges", "N;PL", 7), Row("abholen", "abhole", "V;PRS", 2)])
    assert [(cell.lemma, cell.forms, cell.uses) for cell in table.shipped()] == [
        ("rēx", ["rēgēs"], 7),
        ("abholen", ["hole ab"], 2),
    ]


def test_a_table_prefers_what_running_text_has() -> None:
    table = Table(Paradigms(["V;PST"]))
    table.add("unimorph", [Row("learn", "learned", "V;PST"), Row("go", "goed", "V;PST")])
    table.add("dictionary", [Row("learn", "learnt", "V;PST")])
    report = table.add("use", [Row("learn", "learnt", "V;PST;FIN", 2), Row("go", "went", "PST;V", 9)])
    table.add("count", [Row("count", "counted", "V;PST", 5)])
    assert (report.mapped, report.both, report.agree) == (2, 2, 1)
    assert [(cell.lemma, cell.forms) for cell in table.shipped()] == [
        ("go", ["went"]),
        ("learn", ["learnt", "learned"]),
    ]


@pytest.mark.parametrize(("sources", "uses", "usual", "doubted"), [
    ({"a"}, 0, 5, True), ({"a"}, 0, 4, False), ({"a", "b"}, 0, 9, False), ({"a"}, 1, 9, False),
    ({"use"}, 1, 20, True), ({"use"}, 1, 19, False), ({"use", "a"}, 1, 20, False),
])  # fmt: skip
def test_forms_that_running_text_contradicts(sources: set[str], uses: int, usual: int, doubted: bool) -> None:
    assert doubtful(Evidence(sources, uses), usual) == doubted


def test_a_package_that_is_another_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(_: Package, into: Path) -> Path:
        (into / "wrong.whl").write_bytes(b"wrong")
        return into / "wrong.whl"

    monkeypatch.setattr(Package, "_download", download)
    with pytest.raises(SystemExit, match="words 1: found another file"):
        Package("words", "1", "0" * 64).unpacked(tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_programs_print_lines_of_fields() -> None:
    assert printed(["printf"], [], "a\\tb\\nc\\n") == [["a", "b"], ["c"]]


def test_treebanks_are_credited_by_name() -> None:
    assert credit("use", "finnish") == [
        ("Universal Dependencies, Finnish-FTB", "CC BY 4.0"),
        ("Universal Dependencies, Finnish-TDT", "CC BY-SA 4.0"),
        ("Universal Dependencies, Finnish-PUD", "CC BY-SA 3.0"),
    ]
    assert [name for name, _ in credit("use", "serbo-croatian")] == ["Universal Dependencies, Croatian-SET"]
    assert [name for name, _ in credit("use", "norwegian-nynorsk")] == ["Universal Dependencies, Norwegian-Nynorsk"]


def test_written_tables_have_forms_and_credits(tmp_path: Path) -> None:
    table = Table(Paradigms(["N;PL", "V;PST"]))
    table.add("unimorph", [Row("index", "indexes", "N;PL"), Row("go", "went", "V;PST")])
    table.add("use", [Row("index", "indices", "N;PL", 3)])
    assert write_table(tmp_path, "english", table) == "2 cells, 0 left out"
    assert (tmp_path / "english.tsv").read_text().splitlines() == [
        "index\tN;PL\tindices / indexes\t3\tunimorph,use",
        "go\tV;PST\twent\t0\tunimorph",
    ]
    content = json.loads((tmp_path / "english.json").read_text())
    assert content["uses"] == {"index": 3}
    assert content["credits"]["unimorph"][0][1] == "CC BY-SA 3.0"


def test_sources_name_their_licence_and_pin_their_packages() -> None:
    for source, _ in DICTIONARIES.values():
        assert source.credit
        assert source.licence
        assert all(len(package.sha256) == 64 for package in source.packages)


def test_adjectives_with_one_form_for_both_genders_have_it_in_both(tmp_path: Path) -> None:
    wide = tmp_path / "wide"
    wide.mkdir()
    (wide / "spanish.tsv").write_text("ser\tser\tV;NFIN\t2017\n", encoding="utf-8")
    (wide / "spanish.use.tsv").write_text("verde\tverdes\tADJ;PL\t2\nrojo\trojo\tADJ;SG\t1\n", encoding="utf-8")
    paradigms = paradigms_of(unimorph(wide, "spanish", shared_task=True), recipe_of("spanish"))
    table = Table(paradigms)
    table.add("use", treebanks(wide, "spanish", "use"))
    cells = {(cell.lemma, cell.bundle): cell.forms for cell in table.shipped()}
    assert cells == {
        ("verde", "ADJ;MASC;PL"): ["verdes"],
        ("verde", "ADJ;FEM;PL"): ["verdes"],
        ("rojo", "ADJ;MASC;SG"): ["rojo"],
    }
    assert table.uses == {"verde": 2, "rojo": 1}
