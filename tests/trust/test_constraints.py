"""Every package that an install brings has its version in constraints.txt, and that version is the one tested here."""

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
LINES = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


PINS = {name: Version(version) for name, _, version in (line.partition("==") for line in LINES) if version}
EXTRAS = PROJECT["project"]["optional-dependencies"]
# The metadata of an editable install may be older than this file.
REQUIRED = [*PROJECT["project"]["dependencies"], *(requirement for extra in EXTRAS.values() for requirement in extra)]
REQUIRED = [requirement for requirement in REQUIRED if Requirement(requirement).name != PROJECT["project"]["name"]]
"""To run, and with any extra."""


def needed(system: Mapping[str, str] | None = None) -> dict[str, Version | None]:
    """All that a system (this one) requires, directly or not, and the versions that are installed."""
    versions: dict[str, Version | None] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(requirement), "") for requirement in REQUIRED]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**(system or {}), "extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            package = distribution(name)
        except PackageNotFoundError:
            versions[name] = None
            continue
        versions[name] = Version(Version(package.version).public)  # torch for CPUs has a name of its own
        new = {(name, wanted) for wanted in ("", *requirement.extras)} - seen
        seen |= new
        waiting += [(Requirement(further), wanted) for _, wanted in new for further in package.requires or ()]
    return versions


def test_the_file_is_a_list_of_exact_versions_in_order() -> None:
    blocks = "\n".join(line for line in LINES if not line.startswith("#")).split("\n\n")
    for block in blocks:
        lines = block.strip().split("\n")
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", line) for line in lines)
        names = [line.partition("==")[0] for line in lines]
        assert names == sorted(set(names))


def test_everything_needed_is_installed_at_its_version() -> None:
    here = needed()
    assert len(here) > 50
    wrong = {name: (PINS.get(name), version) for name, version in here.items() if PINS.get(name) != version}
    assert not wrong, "name: (in constraints.txt, installed); run scripts/setup dev, or correct the file"


ELSEWHERE = {
    "Windows": {"sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64", "os_name": "nt"},
    "macOS": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
    "Linux": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "aarch64"},
}


@pytest.mark.parametrize("system", ELSEWHERE)
@pytest.mark.parametrize("python", ["3.11", "3.14"])
def test_what_other_systems_need_has_a_version_too(system: str, python: str) -> None:
    """As far as the packages that are installed here know."""
    here = {**ELSEWHERE[system], "python_version": python, "python_full_version": f"{python}.0"}
    assert set(needed(here)) <= PINS.keys()


def test_all_that_extras_bring_is_there_for_the_tests() -> None:
    itself = next(filter(None, (re.match(r"reinflect\[(.*)\]", requirement) for requirement in EXTRAS["dev"])))
    assert {*itself[1].split(","), "dev"} == EXTRAS.keys(), "what an extra brings is not in dev: no test would use it"


@pytest.mark.parametrize("requirement", [*PROJECT["build-system"]["requires"], *REQUIRED])
def test_the_versions_are_ones_that_we_ask_for(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(PINS[canonicalize_name(wanted.name)])


def advisories() -> list[tuple[str, Version, str]]:
    """Of known vulnerabilities: the package, the version in which it is mended, and its names."""
    lines = (ROOT / "scripts" / "advisories.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.split() for line in lines if not line.startswith("#")]
    assert all(len(part) == 4 and part[3].startswith("https://github.com/") for part in parts)
    return [(name, Version(mended), ids) for name, mended, ids, _ in parts]


def test_no_version_has_a_vulnerability_that_we_know_of() -> None:
    assert len(advisories()) > 50
    assert {name for name, _, _ in advisories()} <= PINS.keys(), "it is about packages that are not used any more"
    assert not [(name, ids) for name, mended, ids in advisories() if PINS[name] < mended]


NEVER_CALLED = {"CVE-2025-3000,GHSA-rrmf-rvhw-rf47,PYSEC-2025-194": "torch.jit"}
"""Versions with these are allowed, because that part of the package is not used; many GPUs have no newer torch yet."""


@pytest.mark.parametrize("requirement", REQUIRED)
def test_no_version_that_we_allow_has_one(requirement: str) -> None:
    wanted = Requirement(requirement)
    least = max(Version(bound.version) for bound in wanted.specifier if bound.operator == ">=")
    open_to = [ids for name, mended, ids in advisories() if name == canonicalize_name(wanted.name) and least < mended]
    assert {*open_to} <= NEVER_CALLED.keys(), f"raise the least version of {wanted.name} in pyproject.toml"


@pytest.mark.parametrize("part", NEVER_CALLED.values())
def test_what_is_allowed_because_it_is_not_used_is_not(part: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if re.search(rf"\b{re.escape(part)}\b", text)]


def test_the_table_of_systems_has_the_rows_and_columns_that_the_audit_asks_for() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    audit = (ROOT / "scripts" / "audit").read_text(encoding="utf-8")
    rows = re.findall(r'^    "((?:Linux|Windows|macOS)[^"]*)": \(', audit, re.MULTILINE)
    assert len(rows) == 6
    for row in rows:
        assert re.search(rf"^\| {row}( \|[^|]+){{4}} \|$", page, re.MULTILINE), f"run scripts/audit: {row}"
    assert re.search(r"pip was asked on \d{4}-\d\d-\d\d", page)
