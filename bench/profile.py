"""Where the time of fleets goes on a GPU, and how near they are to what the machine can do.

    python -m bench.profile --data ../shared/data/conll2017 --languages all --setting low

For each pack of models: the host's and the device's time of an update, an epoch's preparation and a look at the dev
accuracy; the kernels that take longest; arithmetic and memory rates beside ceilings measured on the spot.
"""

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from reinflect.layers.cells import CELLS
from reinflect.learn.fleet import Epoch, Fleet
from reinflect.learn.lesson import specs
from reinflect.paper.corpora import languages_in, read_corpora
from reinflect.run.driver import prepared
from reinflect.run.packs import Pack, memory_of_the_gpu, pack_specs
from reinflect.run.watch import Resources
from reinflect.systems.kind import Wish, make_plan
from reinflect.systems.symbols import RecurrentSettings
from reinflect.systems.system import ACTIONS


def main() -> None:
    arguments = _arguments()
    systems, alignments = arguments.systems.split(","), arguments.alignments.split(",")
    wish = Wish(
        systems=systems,
        alignments=alignments,
        preset=arguments.preset or arguments.setting,
        changes=arguments.set,
        seeds=arguments.seeds,
    )
    _ceilings()
    began = time.perf_counter()
    asked = None if arguments.languages == "all" else arguments.languages.split(",")
    corpora, _ = read_corpora(Path(arguments.data), languages_in(Path(arguments.data), asked), [arguments.setting])
    models = [spec for corpus in corpora for spec in specs(make_plan(wish, len(corpus.train)), [corpus])]
    models = prepared(models, Resources(workers=arguments.workers))
    print(f"{len(corpora)} languages at {arguments.setting}, read and aligned in {time.perf_counter() - began:.1f} s")
    for pack in pack_specs(models, "cuda", memory_of_the_gpu()):
        _profile(pack, arguments.updates, arguments.kernels)


def _profile(pack: Pack, updates: int, kernels: int) -> None:
    began = time.perf_counter()
    fleet = Fleet(pack.specs, device="cuda")
    torch.cuda.synchronize()
    took = time.perf_counter() - began
    epoch, lengths = fleet.prepare(), [fleet.train.files[file].lengths[ACTIONS] for file in fleet.files]
    padding = 1 - sum(map(sum, lengths)) / (sum(most[ACTIONS] for most in epoch.longest) * epoch.items[0].numel())
    print(
        f"\n{pack.name}: {len(pack.specs)} models of {fleet.parameters.flat.shape[1]:,} numbers, "
        f"{padding:.1%} padding; made in {took:.1f} s"
    )
    torch.cuda.reset_peak_memory_stats()
    _measure(fleet, updates, kernels)
    most = torch.cuda.max_memory_allocated()
    print(f"  memory: {most / 2**30:.1f} GiB at most, {pack.bytes / 2**30:.1f} expected")
    del fleet
    torch.cuda.empty_cache()


def _measure(fleet: Fleet, updates: int, kernels: int) -> None:
    began = time.perf_counter()
    epoch = fleet.prepare()
    torch.cuda.synchronize()
    print(f"  an epoch prepared in {time.perf_counter() - began:.3f} s: {len(epoch)} updates")
    updates = min(updates, len(epoch))
    for number in (*range(updates), *range(updates)):  # once to compile, once to capture graphs
        fleet.update(epoch, number)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for number in range(updates):
        fleet.update(epoch, number)
    host = time.perf_counter() - began
    torch.cuda.synchronize()
    whole = time.perf_counter() - began
    print(f"  an update: {1000 * whole / updates:.2f} ms, of which the host is busy {1000 * host / updates:.2f} ms")
    samples = int((epoch.items[:updates] >= 0).sum())
    print(f"  {samples / whole:,.0f} samples/s")
    _rates(fleet, epoch, updates, whole)
    for _ in range(2):
        began = time.perf_counter()
        fleet.score()
        torch.cuda.synchronize()
        look = time.perf_counter() - began
        print(f"  a look at the dev accuracy: {look:.3f} s")
    settings = fleet.settings
    looks = 1 + (settings.epochs - settings.score_from) // settings.score_every
    schedule = settings.epochs * len(epoch) * whole / updates + looks * look
    print(f"  {settings.epochs} epochs and {looks} looks at this pace: {schedule:.0f} s, if no model stops early")
    began = time.perf_counter()
    fleet.snapshot(list(range(len(fleet.running))))
    torch.cuda.synchronize()
    print(f"  a snapshot of all: {time.perf_counter() - began:.3f} s")
    some = min(5, updates)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        for number in range(some):
            fleet.update(epoch, number)
        torch.cuda.synchronize()
    _table("update", found, some, kernels)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        fleet.score()
        torch.cuda.synchronize()
    _table("look at the dev accuracy", found, 1, kernels)


def _table(what: str, found: profile, times: int, kernels: int) -> None:
    rows = [row for row in found.key_averages() if row.device_type == DeviceType.CUDA]
    total = sum(row.self_device_time_total for row in rows)
    print(
        f"  kernels of one {what}: {sum(row.count for row in rows) / times:.0f} launches, {total / times / 1000:.2f} ms"
    )
    for row in sorted(rows, key=lambda row: -row.self_device_time_total)[:kernels]:
        share = row.self_device_time_total / total
        took = row.self_device_time_total / times / 1000
        print(f"    {took:8.3f} ms {share:6.1%} {row.count / times:7.1f} × {row.key[:160]}")


def _rates(fleet: Fleet, epoch: Epoch, updates: int, seconds: float) -> None:
    """Arithmetic that the products need, recurrences included, and memory that must move at least once an update."""
    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.bmm: _operations}) as counter:
        fleet._update(epoch.items[0], epoch.epochs, epoch.keys, epoch.longest[0])
    recurrent = 0
    for name, view in fleet.parameters.views.items():
        if name.endswith(".recurrent"):
            assert isinstance(fleet.settings, RecurrentSettings)
            cell, lengths = CELLS[fleet.settings.cell], epoch.longest[0]
            steps = lengths[ACTIONS] if name.startswith(("decoder", "history")) else lengths["symbols"]
            recurrent += (
                2 * 2 * steps * fleet.settings.batch * view.shape[1] * view.shape[1] * cell.recurrent * len(view)
            )
    operations = counter.get_total_flops() + recurrent
    moved = 4 * fleet.parameters.flat.numel() * 10
    print(
        f"  {operations * updates / seconds / 1e12:.2f} TFLOP/s; parameters, gradients and the optimiser's numbers "
        f"alone move {moved * updates / seconds / 1e9:,.0f} GB/s (10 passes over {moved / 10 / 1e9:.2f} GB)"
    )


def _operations(left: torch.Size, right: torch.Size, *_: object, **__: object) -> int:
    """Of a product of stacked matrices; torch's own count fails where the type of the result is given (bf16)."""
    return 2 * math.prod(left) * right[2]


def _ceilings() -> None:
    large = torch.empty(2**28, device="cuda")
    other = torch.empty_like(large)
    copy = _seconds(partial(other.copy_, large))
    print(f"memory: {2 * large.numel() * 4 / copy / 1e9:,.0f} GB/s (copying 1 GiB)")
    del large, other
    square = torch.randn(8192, 8192, device="cuda")
    for name, allowed in (("single precision", False), ("tf32", True)):
        torch.backends.cuda.matmul.allow_tf32 = allowed
        took = _seconds(partial(torch.mm, square, square))
        print(f"products of 8192², {name}: {2 * 8192**3 / took / 1e12:.1f} TFLOP/s")
        many, much = torch.randn(520, 52, 100, device="cuda"), torch.randn(520, 100, 300, device="cuda")
        took = _seconds(partial(torch.bmm, many, much))
        print(f"520 products of 52×100×300, {name}: {2 * 520 * 52 * 100 * 300 / took / 1e12:.1f} TFLOP/s")
    torch.backends.cuda.matmul.allow_tf32 = False
    small = torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(2000):
        small.add_(1)
    torch.cuda.synchronize()
    print(f"launches: {2000 / (time.perf_counter() - began):,.0f} a second")


def _seconds(run: Callable[[], object]) -> float:
    times = []
    for _ in range(6):
        torch.cuda.synchronize()
        began = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return median(times[1:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--languages", default="all", help="all, or names joined by commas")
    parser.add_argument("--setting", default="low")
    parser.add_argument("--preset", help="the setting's by default")
    parser.add_argument("--systems", default="hacm,haem")
    parser.add_argument("--alignments", default="naive,smart")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--updates", type=int, default=40)
    parser.add_argument("--kernels", type=int, default=14)
    parser.add_argument("--workers", type=int, default=1, help="processes that align")
    return parser.parse_args()


if __name__ == "__main__":
    main()
