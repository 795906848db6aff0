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


def pins() -> dict[str, Version]:
    parts = [line.split("==") for line in LINES if line and not line.startswith("#")]
    return {name: Version(version) for name, version in parts}


BUILD = PROJECT["build-system"]["requires"]
"""What pip builds us with, in an environment of its own."""


def asked_for() -> list[str]:
    """By us: to run, and with any extra. The metadata of an editable install may be older than this file."""
    project = PROJECT["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return [one for one in (*project["dependencies"], *extras) if Requirement(one).name != PROJECT["project"]["name"]]


def needed(system: Mapping[str, str] | None = None) -> dict[str, Version | None]:
    """All that is asked for on a system (this one) and by those in turn, and the versions that are installed."""
    found: dict[str, Version | None] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(Requirement(one), "") for one in asked_for()]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**(system or {}), "extra": extra}):
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
    assert set(needed(here)) <= set(pins())


def test_all_that_extras_bring_is_there_for_the_tests() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    itself = Requirement(next(one for one in extras["dev"] if one.startswith("reinflect[")))
    assert itself.extras == extras.keys() - {"dev"}, "what an extra brings is not in dev, so that no test would use it"


@pytest.mark.parametrize("requirement", [*BUILD, *asked_for()])
def test_the_versions_are_ones_that_we_ask_for(requirement: str) -> None:
    wanted = Requirement(requirement)
    assert wanted.specifier.contains(pins()[canonicalize_name(wanted.name)])


def advisories() -> list[tuple[str, Version, str]]:
    """Of known vulnerabilities: the package, the version in which it is mended, and its names."""
    lines = (ROOT / "scripts" / "advisories.txt").read_text(encoding="utf-8").splitlines()
    parts = [line.split() for line in lines if not line.startswith("#")]
    assert all(len(part) == 4 and part[3].startswith("https://github.com/") for part in parts)
    return [(name, Version(mended), known) for name, mended, known, _ in parts]


def test_no_version_has_a_vulnerability_that_we_know_of() -> None:
    here = pins()
    assert len(advisories()) > 100
    assert {name for name, _, _ in advisories()} <= set(here), "it is about packages that are not used any more"
    assert not [(name, known) for name, mended, known in advisories() if here[name] < mended]


NEVER_CALLED = {"CVE-2025-3000,GHSA-rrmf-rvhw-rf47,PYSEC-2025-194": "torch.jit"}
"""Versions with these are allowed, because that part of the package is not used; many GPUs have no newer torch yet."""


@pytest.mark.parametrize("requirement", asked_for())
def test_no_version_that_we_allow_has_one(requirement: str) -> None:
    wanted = Requirement(requirement)
    at_least = max(Version(one.version) for one in wanted.specifier if one.operator == ">=")
    found = [
        known
        for name, mended, known in advisories()
        if name == canonicalize_name(wanted.name) and at_least < mended and known not in NEVER_CALLED
    ]
    assert not found, f"raise the least version of {wanted.name} in pyproject.toml"


@pytest.mark.parametrize("part", NEVER_CALLED.values())
def test_what_is_allowed_because_it_is_not_used_is_not(part: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")}
    assert len(texts) > 100
    assert not [path for path, text in texts.items() if re.search(rf"\b{re.escape(part)}\b", text)]


def test_the_table_of_systems_has_the_rows_and_columns_that_the_audit_asks_for() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    audit = (ROOT / "scripts" / "audit").read_text(encoding="utf-8")
    asked = re.findall(r'^    "((?:Linux|Windows|macOS)[^"]*)": \(', audit, re.MULTILINE)
    assert len(asked) == 6
    for row in asked:
        assert re.search(rf"^\| {row}( \|[^|]+){{4}} \|$", page, re.MULTILINE), f"run scripts/audit: {row}"
    assert re.search(r"pip was asked on \d{4}-\d\d-\d\d", page)
