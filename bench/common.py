"""What the programs share that train models: options, and training with progress."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reinflect.align.pairs import default_folder
from reinflect.ensemble.strategies import Trained
from reinflect.errors import INTERRUPTED, ReinflectError, StoppedError
from reinflect.learn.lesson import ModelSpec
from reinflect.run.driver import Execution, train_specs
from reinflect.run.store import Store
from reinflect.run.watch import Resources, display


def training_parser(doc: str | None) -> argparse.ArgumentParser:
    """The options of a program that trains on files of the shared task."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with files of the shared task")
    parser.add_argument("--languages", nargs="+", help="all of the data by default")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="preset changes")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="cpu")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    return parser


def run(parser: argparse.ArgumentParser, program: Callable[[argparse.Namespace], object]) -> None:
    """Run a program; what is wrong is said in one line."""
    try:
        arguments = parser.parse_args()
        if getattr(arguments, "languages", None):
            arguments.languages = [name for text in arguments.languages for name in text.split(",")]
        program(arguments)
    except ReinflectError as error:
        parser.exit(INTERRUPTED if isinstance(error, StoppedError) else 2, f"error: {error}\n")


def execute(specs: Sequence[ModelSpec], work: Store, device: str, workers: int) -> Execution:
    """Train specs with progress; after Ctrl-C, `finished` is false. The folder keeps what is trained."""
    with work.held(), display() as watcher:
        resources = Resources(
            device=device,
            workers=workers,
            trainers=workers if device == "cuda" else None,
            alignment_cache=default_folder(),
            watcher=watcher,
        )
        execution = train_specs(specs, work, resources)
    if execution.failed:
        raise ReinflectError(execution.failed)
    return execution


def trained(specs: Sequence[ModelSpec], work: Store, arguments: argparse.Namespace) -> Mapping[str, Trained]:
    """The models by the digests of their specs, all of them."""
    execution = execute(specs, work, arguments.device, arguments.workers)
    if not execution.finished:
        raise StoppedError("stopped; the same command resumes the training")
    return work.get(specs)
