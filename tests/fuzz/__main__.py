"""`python -m tests.fuzz`: all of it, as a table. `… KIND`: one kind. `… KIND NUMBER`: one input, shown and tried."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz import api_requests, commands, item_files, model_files, other_files
from tests.fuzz.campaign import Kind, run

READ = (*item_files.TEXTS, *item_files.MORE, *model_files.MODELS, *api_requests.REQUESTS, *other_files.OTHERS)
KINDS = {kind.name: kind for kind in (*READ, *commands.COMMANDS)}


def main(kind: str | None = None, number: str | None = None) -> int:
    failed = False
    print("| kind | inputs | used | refused | failed | seconds |\n|---|---:|---:|---:|---:|---:|")
    for one in KINDS.values() if kind is None else [KINDS[kind]]:
        failed |= _row(one, one.numbers(1.0) if number is None else range(int(number), int(number) + 1))
        if number is not None:
            print(f"{one.made(int(number))!r:.10000}")
    return int(failed)


def _row(kind: Kind, numbers: range) -> bool:
    with TemporaryDirectory() as folder:
        tally = run(kind, numbers, Path(folder))
    refused = sum(count for outcome, count in tally.outcomes.items() if outcome.startswith("refused"))
    figures = (tally.tried, tally.outcomes["used"], refused, tally.outcomes["failed"])
    print(f"| {kind.name} | {' | '.join(f'{figure:,}' for figure in figures)} | {tally.seconds:.0f} |", flush=True)
    for where, told in tally.failures.items():
        print(f"{where}\n{told}", file=sys.stderr)
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
