"""Every package that an install brings has its version in constraints.txt, and that version is the one tested here."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins() -> dict[str, Version]:
    parts = [line.split("==") for line in LINES if line and not line.startswith("#")]
    return {name: Version(version) for name, version in parts}


BUILD = PROJECT["build-system"]["requires"]
"""What pip builds us with, in an environment of its own."""


def asked_for() -> list[str]:
    """By us: to run, and with any extra. The metadata of an editable install may be older than this file."""
    project = PROJECT["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return [*project["dependencies"], *extras]


def needed() -> dict[str, Version | None]:
    """All that is asked for here and by those in turn, and the versions that are installed."""
    found: dict[str, Version | None] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(one), "") for one in asked_for()]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            there = distribution(name)
        except PackageNotFoundError:
            found[name] = None
            continue
        found[name] = Version(Version(there.version).public)  # torch for CPUs has a name of its own
        new = {(name, wanted) for wanted in ("", *requirement.extras)} - seen
        seen |= new
        waiting += [(Requirement(one), wanted) for _, wanted in new for one in there.requires or ()]
    return found


def test_the_file_is_a_list_of_exact_versions_in_order() -> None:
    blocks = "\n".join(line for line in LINES if not line.startswith("#")).split("\n\n")
    for block in blocks:
        lines = block.strip().split("\n")
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
        names = [line.partition("==")[0] for line in lines]
        assert names == sorted(set(names))


def test_everything_needed_is_installed_at_its_version() -> None:
    known, here = pins(), needed()
    assert len(here) > 50
    wrong = {name: (known.get(name), version) for name, version in here.items() if known.get(name) != version}
    assert not wrong, "name: (in constraints.txt, installed); run scripts/setup dev, or correct the file"


def test_all_that_extras_bring_is_there_for_the_tests() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    named = {extra: {Requirement(one).name for one in extras[extra]} for extra in extras}
    for extra, packages in named.items():
        assert packages <= named["dev"], f"what {extra} brings is not in dev, so that no test would use it"


@pytest.mark.parametrize("requirement", [*BUILD, *asked_for()])
def test_the_versions_are_ones_that_we_ask_for(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(pins()[canonicalize_name(wanted.name)])
