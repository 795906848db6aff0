"""Text files with something wrong in them: valid lines, then changes of the text, then changes of its bytes."""

from collections.abc import Callable, Sequence
from random import Random

WORDS = "gehen ging fliegen flog sehen gesehen Äpfel ev evler λύω كتب שלום 漢字 नमस्ते o'clock e\u0301te\u0301 a".split()
BUNDLES = ("V;PST", "V;IND;PST;3;SG", "N;PL", "PL; N", "V.PTCP;PST", "PRF;PRF", "ADJ", "", ";;", "1sg past", "pl")
ODD = [
    *("\0", "\t", "\n", "\r", "\r\n", "\t\t", "\n\n", "\ufeff", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"),
    *(" ", "  ", "\xa0", "\u200e", "\u202e", "\u0301", "\ufffd", "\ufffe", "\ue000", "\U0010ffff", "𝄞", "👩‍👧"),
    *'" "" \' \\ ; , = # [ ] { } | - <b> &amp; %s {0} =SUM(A1) -1 +1 @x 1e5 NaN None null true 2026-11-15'.split(),
    *"../.. lemma form features \x1b[31m".split(),
]
SEPARATORS = ("\t", ",", ";", " ", "|", "\t\t", "")
LINE_ENDS = ("\n", "\r\n", "\r", "\n\r", "\n\n", "\u2028", "\x85", "\x0b", "")


def word(rng: Random) -> str:
    return rng.choice(WORDS) if rng.random() < 0.9 else "".join(rng.choice(WORDS) for _ in range(3))


def bundle(rng: Random) -> str:
    return rng.choice(BUNDLES)


def spoilt(rng: Random, text: str) -> bytes:
    """A text with some changes made, or none, as the bytes of a file."""
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 5])):
        text = rng.choice(OF_TEXT)(rng, text)
    raw = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.25:
        raw = rng.choice(OF_BYTES)(rng, raw)
    return raw


def edited(rng: Random, text: str) -> str:
    """Something put in, or a piece replaced, removed, repeated or moved."""
    start = rng.randrange(len(text) + 1)
    before, piece, after = text[:start], *_cut(text[start:], rng.choice([0, 1, 2, 5, 20]))
    match rng.randrange(7):
        case 0 | 1:
            return before + rng.choice(ODD) + piece + after
        case 2:
            return before + rng.choice(ODD) + after
        case 3:
            return before + after
        case 4:
            return before + piece * rng.choice([2, 3, 11]) + after
        case 5:
            return before + rng.choice(ODD + WORDS) * rng.choice([50, 300, 3000]) + piece + after
        case _:
            left, right = _cut(before + after, rng.randrange(len(before + after) + 1))
            return left + piece + right


def _cut(text: str, at: int) -> tuple[str, str]:
    return text[:at], text[at:]


def other_separator(rng: Random, text: str) -> str:
    return text.replace(rng.choice("\t,;"), rng.choice(SEPARATORS), rng.choice([-1, 1, 2]))


def other_line_end(rng: Random, text: str) -> str:
    return text.replace("\n", rng.choice(LINE_ENDS), rng.choice([-1, -1, 1, 2]))


def shuffle_lines(rng: Random, text: str) -> str:
    lines = text.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines)


def spoil_one_line(rng: Random, text: str) -> str:
    lines = text.split("\n")
    lines[rng.randrange(len(lines))] = rng.choice(["", "\t", "\t\t", "\t\t\t", ",,", ";;", '"', "a", "a\tb", "\t" * 50])
    return "\n".join(lines)


def any_text(rng: Random, _text: str) -> str:
    limit = rng.choice([0x80, 0x3000, 0xD800])
    return "".join(chr(rng.randrange(limit)) for _ in range(rng.randrange(60)))


OF_TEXT: Sequence[Callable[[Random, str], str]] = (
    *(edited,) * 7,
    *(other_separator, other_line_end, shuffle_lines, spoil_one_line, any_text, lambda *_: ""),
)


def flip(rng: Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(rng.choice([1, 1, 2, 8])) if raw else ():
        changed[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(rng: Random, raw: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def put_in(rng: Random, raw: bytes) -> bytes:
    place = rng.randrange(len(raw) + 1)
    odd = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\xef\xbb\xbf", rng.randbytes(8)]
    return raw[:place] + rng.choice(odd) + raw[place:]


def other_encoding(rng: Random, raw: bytes) -> bytes:
    text = raw.decode("utf-8", "replace")
    return text.encode(rng.choice(["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "utf-7"]), "replace")


def another_file(rng: Random, raw: bytes) -> bytes:
    starts = [b"PK\x03\x04", b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"%PDF-1.7\n", b"\xef\xbb\xbf", b"\xfe\xff"]
    return rng.choice(starts) + raw


OF_BYTES: Sequence[Callable[[Random, bytes], bytes]] = (flip, cut, put_in, other_encoding, another_file)
