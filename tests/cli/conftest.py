from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keeps tests away from the user's own cache, and what they write in a folder of theirs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REINFLECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
