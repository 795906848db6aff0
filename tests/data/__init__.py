"""What tests of files share."""

from collections.abc import Iterable
from pathlib import Path

from reinflect.data.items import Item

Fields = list[tuple[str, str, str]]


def fields(items: Iterable[Item]) -> Fields:
    return [(item.lemma, item.features.spelling, item.form) for item in items]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
