"""Every package that an install brings has its version in constraints.txt, and that version is the one tested here."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
AUDIT = SimpleNamespace(**run_path(str(ROOT / "scripts" / "audit"), run_name="audit"))
PINS = {name: Version(pinned) for name, pinned in AUDIT.pins().items()}
ADVISORIES = [(name, Version(mended), ids) for name, mended, ids in AUDIT.advisories()]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIRED = [*PROJECT["build-system"]["requires"], *AUDIT.required()]


def test_the_file_is_a_list_of_exact_versions_in_order() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    for block in "\n".join(line for line in lines if not line.startswith("#")).split("\n\n"):
        pins = block.strip().split("\n")
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", pin) for pin in pins)
        names = [pin.partition("==")[0] for pin in pins]
        assert names == sorted(set(names))


def test_everything_needed_is_installed_at_its_version() -> None:
    # torch for CPUs has a version of its own, as `2.11.0+cpu`.
    here = {name: Version(Version(version(name)).public) for name in AUDIT.needed({}, without=())}
    assert len(here) > 50
    wrong = {name: (PINS.get(name), installed) for name, installed in here.items() if PINS.get(name) != installed}
    assert not wrong, "name: (in constraints.txt, installed); run scripts/setup dev, or correct the file"


@pytest.mark.parametrize("platform", AUDIT.PLATFORMS)
@pytest.mark.parametrize("python", AUDIT.PYTHONS)
def test_what_other_systems_need_has_a_version_too(platform: str, python: str) -> None:
    """As far as the packages that are installed here know."""
    assert AUDIT.needed(AUDIT.facts(platform, python), without=()) <= PINS.keys()


def test_all_that_extras_bring_is_there_for_the_tests() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    itself = Requirement(next(requirement for requirement in extras["dev"] if requirement.startswith("reinflect[")))
    assert itself.extras | {"dev"} == extras.keys(), "what an extra brings is not in dev: no test would use it"


@pytest.mark.parametrize("requirement", REQUIRED)
def test_the_versions_are_ones_that_we_ask_for_and_none_of_those_is_vulnerable(requirement: str) -> None:
    wanted = Requirement(requirement)
    name = canonicalize_name(wanted.name)
    assert wanted.specifier.contains(PINS[name])
    bounds = [Version(bound.version) for bound in wanted.specifier if bound.operator == ">="]
    least = max(bounds, default=PINS[name])
    open_to = {ids for vulnerable, mended, ids in ADVISORIES if vulnerable == name and least < mended}
    assert open_to <= NEVER_CALLED.keys(), f"raise the least version of {name} in pyproject.toml"


def test_no_version_has_a_vulnerability_that_we_know_of() -> None:
    lines = AUDIT.ADVISORIES.read_text(encoding="utf-8").splitlines()
    parts = [line.split() for line in lines if not line.startswith("#")]
    assert all(len(part) == 4 and part[3].startswith("https://github.com/") for part in parts)
    assert len(ADVISORIES) > 50
    assert {name for name, _, _ in ADVISORIES} <= PINS.keys(), "it is about packages that are not used any more"
    assert AUDIT.unmended() == []


NEVER_CALLED = {"CVE-2025-3000,GHSA-rrmf-rvhw-rf47,PYSEC-2025-194": "torch.jit"}
"""Versions with these are allowed, because that part of the package is not used; many GPUs have no newer torch yet."""


@pytest.mark.parametrize("part", NEVER_CALLED.values())
def test_what_is_allowed_because_it_is_not_used_is_not(part: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if re.search(rf"\b{re.escape(part)}\b", text)]


def test_the_table_of_systems_has_the_rows_and_columns_that_the_audit_asks_for() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for platform in AUDIT.PLATFORMS:
        row = rf"^\| {platform}( \|[^|]+){{{len(AUDIT.PYTHONS)}}} \|$"
        assert re.search(row, page, re.MULTILINE), f"run scripts/audit: {platform}"
    assert re.search(r"pip was asked on \d{4}-\d\d-\d\d", page)
