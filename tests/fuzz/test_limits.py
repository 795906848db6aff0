"""Files that claim to be far larger than they are, or are: refused before anything is made of them."""

import json
import lzma
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reinflect import files
from reinflect.data.features import Labels
from reinflect.data.items import read_items
from reinflect.data.sheet_file import LIMITS, Sheet
from reinflect.data.workbook import ELEMENTS
from reinflect.errors import InputError
from reinflect.files import LARGEST, LONGEST_LINE, read_text
from reinflect.inflector.file import HEADER_BYTES
from reinflect.inflector.inflector import Inflector
from reinflect.run import packs
from tests.data import written
from tests.fuzz.campaign import little_memory
from tests.fuzz.item_files import MAIN, SHEET, good_workbook, parts_of, zipped
from tests.fuzz.model_files import about, joined, parts, signed

MILLION = 1_000_000


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """No more than so many bytes of memory at any time."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= most, f"{peak:,} bytes"


def refused(read: Callable[[], object], most: int) -> str:
    """Why something is refused, with no more than so many bytes of memory at any time."""
    with little_memory(), at_most(most), pytest.raises(InputError) as raised:
        read()
    return str(raised.value)


def sparse(path: Path, size: int, beginning: bytes = b"") -> Path:
    """A file of any size that takes no room on the disk."""
    path.write_bytes(beginning)
    try:
        os.truncate(path, size)
    except OSError:
        pytest.skip("no file of that size can be made here")
    return path


@pytest.mark.parametrize("claimed", [HEADER_BYTES + 1, 90 * MILLION, 2**64 - 1])
@pytest.mark.parametrize("size", [1000, 200 * MILLION], ids=["small", "large"])
def test_a_header_of_a_model_file_that_claims_too_much(tmp_path: Path, claimed: int, size: int) -> None:
    path = sparse(tmp_path / "model", size, struct.pack("<Q", claimed) + b"{")
    assert "not a valid reinflect model" in refused(lambda: Inflector.load(path), MILLION)


@pytest.mark.parametrize("shape", [[2**40], [2**31, 2**31], [2**62, 4], [10**6] * 6])
def test_tensors_that_claim_too_much(tmp_path: Path, shape: list[int]) -> None:
    header, numbers = parts()
    name = next(name for name in header if name != "__metadata__")
    for offsets in ([0, 4], [0, 2**42], header[name]["data_offsets"]):
        header[name] |= {"shape": shape, "data_offsets": offsets}
        (tmp_path / "model").write_bytes(joined(json.dumps(header).encode(), numbers))
        assert "not a valid reinflect model" in refused(lambda: Inflector.load(tmp_path / "model"), MILLION)


@pytest.mark.parametrize("value", ["[]", "0", "{}", '"a"'])
def test_a_header_full_of_nothing(tmp_path: Path, value: str) -> None:
    """A list of empty lists would take thirty times as much memory as its text."""
    text = json.dumps({"__metadata__": {"reinflect": f"[{f'{value},' * 3 * MILLION}{value}]"}})
    assert len(text) < HEADER_BYTES
    path = written(tmp_path / "model", joined(text.encode(), b""))
    assert "another kind of file, truncated or damaged" in refused(lambda: Inflector.load(path), 6 * len(text))


def test_members_that_are_not_there(tmp_path: Path) -> None:
    """A header can name a member many times; each needs numbers of its own."""
    said = about()
    said["members"] *= 300
    path = written(tmp_path / "model", signed(said, {}))
    assert "not a valid reinflect model" in refused(lambda: Inflector.load(path), 10 * MILLION)


def test_a_text_that_is_too_large(tmp_path: Path) -> None:
    path = sparse(tmp_path / "items.tsv", 1 << 40)
    assert f"larger than {LARGEST:,} bytes; split it into several files" in refused(lambda: read_items(path), MILLION)


def test_a_device_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("there is no such device here")
    monkeypatch.setattr(files, "LARGEST", MILLION)
    assert "larger than" in refused(lambda: read_text("/dev/zero"), 3 * MILLION)


@pytest.mark.parametrize("piece", ["a", "\t", ";", "ä;"])
def test_a_line_without_end(tmp_path: Path, piece: str) -> None:
    path = written(tmp_path / "items.tsv", "a\tb\tV\n" + piece * MILLION)
    told = refused(lambda: read_items(path), 10 * path.stat().st_size)
    assert "line 2: found a line of" in told
    assert f"in at most {LONGEST_LINE:,} characters" in told
    written(path, piece * MILLION)
    assert "found a line of" in refused(lambda: Labels.read(path), 10 * path.stat().st_size)


WIDE = "lemma," + ",".join(f"V;{number}" for number in range(500)) + "\n" + "a\n" * 500


@pytest.mark.parametrize(
    ("text", "message", "most"),
    [
        ("lemma" + ",V;PST" * 20_000 + "\na,b\n", "row 1: found more than 16,384 columns; remove", 10),
        ("lemma,form,features\n" + ("," * 15_000 + "\n") * 50, "row 8: found more than 100,000 cells", 20),
        (WIDE, "found 500 lemmas with 500 cells each; ask for 100,000 forms at most", 2),
    ],
    ids=["columns", "cells", "wide"],
)
def test_a_sheet_with_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str, most: int
) -> None:
    monkeypatch.setitem(LIMITS, "cells", 100_000)
    path = written(tmp_path / "items.csv", text)
    assert message in refused(lambda: read_items(path, forms="optional"), most * MILLION)


def test_columns_without_a_name_are_not_looked_through_one_by_one(tmp_path: Path) -> None:
    """Sixteen thousand of them in each of so many rows would take minutes."""
    path = written(tmp_path / "items.csv", "lemma,V;PST" + "," * 16_000 + "x\n" + "a,b\n" * 30_000)
    assert len(read_items(path)) == 30_000


def test_each_label_is_not_compared_with_each_other(tmp_path: Path) -> None:
    text = "".join(f"l{number}\tV;{number}\n" for number in range(20_000))
    path = written(tmp_path / "labels.tsv", text)
    assert Labels.read(path).to_features("l19999") == "V;19999"
    written(path, f"{text}7\tX\n")
    with pytest.raises(InputError, match="found the label '7', which is also a feature in 'V;7'"):
        Labels.read(path)


def workbook_with(path: Path, sheet: str, **more: str) -> Path:
    """A workbook whose first sheet, and perhaps another part, is this XML."""
    parts = {name: text.encode() for name, text in {SHEET: sheet, **more}.items()}
    return written(path, zipped(parts_of(good_workbook(1)) | parts))


def xml(rows: str) -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def cell(place: str, text: str = "a") -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_a_workbook_that_unpacks_to_too_much(tmp_path: Path) -> None:
    path = workbook_with(tmp_path / "items.xlsx", "")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as book, book.open("x", "w") as part:
        for _ in range(LIMITS["bytes when unpacked"] // MILLION + 1):
            part.write(b" " * MILLION)
    assert path.stat().st_size < 2 * MILLION
    assert "bytes when unpacked; remove what" in refused(lambda: read_items(path), 5 * MILLION)


def test_entities_of_a_workbook(tmp_path: Path) -> None:
    """They are not looked for elsewhere, nor unfolded to gigabytes."""
    item = xml(f'<row r="1">{cell("A1")}{cell("B1", "&x;")}{cell("C1", "V;PST")}</row>')

    def workbook(declared: str) -> Path:
        return workbook_with(tmp_path / "items.xlsx", f"<!DOCTYPE worksheet [{declared}]>{item}")

    assert [item.form for item in read_items(workbook('<!ENTITY x "b">'))] == ["b"]
    secret = written(tmp_path / "secret.txt", "secret")
    path = workbook(f'<!ENTITY x SYSTEM "{secret.as_uri()}">')
    assert "not a valid XLSX file" in refused(lambda: read_items(path), 5 * MILLION)
    each = "".join(f'<!ENTITY e{depth} "{f"&e{depth - 1};" * 10}">' for depth in range(1, 10))
    path = workbook(f'<!ENTITY e0 "ten letters">{each}<!ENTITY x "&e9;">')
    assert path.stat().st_size < 10_000
    assert "not a valid XLSX file" in refused(lambda: read_items(path), 100 * MILLION)


@pytest.mark.parametrize(
    ("what", "limit", "rows", "most"),
    [
        # Eight million cells in a row, 448 KB on the disk, took 5.7 GB
        ("columns", 16_384, f"<row>{'<c/>' * 2 * MILLION}</row>", 20),
        ("rows", 10_000, f'<row r="999999999999">{cell("A999999999999")}</row>', 10),
        ("rows", 10_000, '<row r="1"/>' * 20_000, 10),
        ("cells", 10_000, "<row><c/></row>" * 20_000, 10),
        ("cells", 10_000, f'<row xmlns:y="{MAIN}">{"<y:c/>" * 16_000}</row>', 10),
        (ELEMENTS, 10_000, f"<row><c>{'<x/>' * 20_000}</c></row>", 10),
        (ELEMENTS, 10_000, "<row/>" + "<x/>" * 20_000, 10),
    ],
)
def test_a_workbook_is_counted_before_rows_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, limit: int, rows: str, most: int
) -> None:
    monkeypatch.setitem(LIMITS, what, limit)
    monkeypatch.setattr(Sheet, "of", lambda *_: pytest.fail("rows are built"))
    path = workbook_with(tmp_path / "items.xlsx", xml(rows))
    assert path.stat().st_size < MILLION
    told = refused(lambda: read_items(path), most * MILLION)
    assert told.startswith(f"{path}: found more than {limit:,} {what}; remove what is not needed")


def test_a_workbook_of_cells_far_to_the_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS, "cells", 500_000)
    rows = "".join(f'<row r="{number}">{cell(f"XFD{number}")}</row>' for number in range(1, 1000))
    path = workbook_with(tmp_path / "items.xlsx", xml(rows))
    assert path.stat().st_size < 30_000
    assert "found more than 500,000 cells" in refused(lambda: read_items(path), 20 * MILLION)


def test_a_workbook_with_millions_of_shared_strings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven million took 89 seconds."""
    monkeypatch.setitem(LIMITS, "shared strings", 100_000)
    strings = f'<sst xmlns="{MAIN}">{"<si/>" * MILLION}</sst>'
    path = workbook_with(tmp_path / "items.xlsx", xml(""), **{"xl/more.xml": strings})
    assert "found more than 100,000 shared strings; remove" in refused(lambda: read_items(path), 50 * MILLION)


WANTING = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 512 * MILLION}]
"""Much memory, to be unpacked."""


@pytest.mark.parametrize(
    "raw", [lzma.compress(b" " * 20 * MILLION, preset=0), lzma.compress(b"{}", filters=WANTING)], ids=["size", "memory"]
)
def test_a_pack_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    monkeypatch.setattr(packs, "LARGEST", MILLION)
    path = written(tmp_path / f"a{packs.ENDING}", raw)
    with at_most(5 * MILLION):
        assert packs.read_result(path) is None
