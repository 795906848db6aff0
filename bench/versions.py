"""How long two versions take to train the same grid, in turn: `python -m bench.versions --old OLD/src --out OUT -- …`.

What stands after `--` are options of `reinflect benchmark`, such as `--data ../shared/data/conll2017 --grid paper
--languages german,welsh --settings low,medium --device cuda --workers 8`. Each version trains into a folder of its own
in OUT. Printed are the time by the clock, the seconds of all packs, and how many packs there are of each system.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from bench.measuring import figures


def train(source: Path, out: Path, options: list[str]) -> tuple[float, Counter[str], Counter[str]]:
    """The time by the clock, and seconds and numbers of packs by system and setting."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "reinflect", "benchmark", *options, "--out", str(out)]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": path_with(source)}, check=True)
    wall = time.perf_counter() - begin
    seconds, packs = Counter[str](), Counter[str]()
    for path in (out / "packs").glob("*.pack.xz"):
        content = json.loads(lzma.decompress(path.read_bytes()))
        first = content["models"][0]
        kind = f"{first['setting']} {first['system']}"
        seconds[kind] += content["seconds"]
        packs[kind] += 1
    return wall, seconds, packs


def path_with(source: Path) -> str:
    """PYTHONPATH, with this version of the package first."""
    return os.pathsep.join(filter(None, (str(source.resolve()), os.environ.get("PYTHONPATH"))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, required=True, help="the folder src of the version to compare with")
    parser.add_argument("--new", type=Path, default=Path("src"), help="that of the other (%(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="a folder for what they write")
    parser.add_argument("--rounds", type=int, default=1, help="each version trains so many times (%(default)s)")
    parser.add_argument("options", nargs="+", help="options of reinflect benchmark, after --")
    arguments = parser.parse_args()
    rows = []
    for number in range(1, arguments.rounds + 1):
        for name, source in (("old", arguments.old), ("new", arguments.new)):
            wall, seconds, packs = train(source, arguments.out / f"{name}-{number}", arguments.options)
            rows.append([f"{name} {number}", "all, by the clock", f"{wall:.1f}", str(packs.total())])
            rows += [[f"{name} {number}", kind, f"{seconds[kind]:.1f}", str(packs[kind])] for kind in sorted(seconds)]
    print(figures(("version", "what", "seconds", "packs"), rows))


if __name__ == "__main__":
    main()
