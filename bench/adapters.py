"""The programs that `bench.peers` measures, each behind the same few lines: learn from a file, then inflect words.

`bench.peers` runs this file by its path in the interpreter that has the program, which need not have reinflect: only
the standard library is imported here, and everything else by the adapter that needs it. To add a program, write a
function from a `Request` to something that inflects words, and give it a line in `ADAPTERS`.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import NamedTuple, TypedDict

Word = tuple[str, str]
"""A lemma and its features."""
Inflect = Callable[[Sequence[Word]], list[str]]

OURS = "reinflect"
NOT_INSTALLED = 3
"""The exit code for it."""
WARM_UP = 50
"""Training words inflected before a program counts as ready: some load their dictionary at the first."""


class Request(TypedDict):
    train: str
    dev: str
    folder: str
    """Empty, for the program's own files."""
    words: list[Word]
    """What to inflect."""
    seed: int
    epochs: int
    """For peers that train; ours has its own in `changes`."""
    preset: str
    system: str
    alignment: str
    changes: list[str]


class Report(TypedDict):
    ready: float
    """CPU seconds from the start of the process until it was trained and had inflected a few words."""
    inflecting: float
    """CPU seconds for all words."""
    forms: list[str]


class Adapter(NamedTuple):
    package: str
    learn: Callable[[Request], Inflect]
    settings: str
    tags: Mapping[str, str] | None = None
    """For a program of fixed language: what it calls the features it can make. Otherwise it learns any."""
    language: str = "english"
    """Of a program that has `tags`."""
    more: str = ""
    """What must be done after `pip install`."""


def ours(request: Request) -> Inflect:
    import torch

    from reinflect.assemble import Keep
    from reinflect.data.items import read_items
    from reinflect.run.watch import Resources
    from reinflect.systems.kind import Wish
    from reinflect.train import train_model

    torch.set_num_threads(1)
    wish = Wish(
        systems=[request["system"]],
        alignments=[request["alignment"]],
        preset=request["preset"],
        changes=request["changes"],
        seeds=1,
        first_seed=request["seed"],
        strategy="vote",
    )
    items, dev = read_items(request["train"]), read_items(request["dev"])
    return train_model(items, dev, wish, Keep(), Resources()).inflector.inflect_many


def baseline(request: Request) -> Inflect:
    from reinflect.data.features import Bundle
    from reinflect.data.items import read_items
    from reinflect.score.baseline import Baseline

    rules = Baseline.learn(read_items(request["train"]))
    return lambda words: [rules.inflect(lemma, Bundle(features)) for lemma, features in words]


def yoyodyne(kind: str) -> Callable[[Request], Inflect]:
    """A model of yoyodyne with sizes like ours: everything else as its authors set it by default."""

    def learn(request: Request) -> Inflect:
        torch, lightning = import_module("torch"), import_module("lightning.pytorch")
        callbacks, loaders = import_module("lightning.pytorch.callbacks"), import_module("torch.utils.data")
        models, modules = import_module("yoyodyne.models"), import_module("yoyodyne.models.modules")
        data, datasets = import_module("yoyodyne.data"), import_module("yoyodyne.data.datasets")
        mapper = import_module("yoyodyne.data.mappers").Mapper

        torch.set_num_threads(1)
        lightning.seed_everything(request["seed"], verbose=False)
        files = data.DataModule(
            model_dir=request["folder"], train=request["train"], val=request["dev"], features_col=3, batch_size=32
        )
        sizes = {"embedding_size": 100, "decoder_hidden_size": 100, "vocab_size": files.vocab_size}
        sizes["target_vocab_size"] = files.target_vocab_size
        if kind == "transformer":
            encoder = modules.TransformerEncoder(embedding_size=100, hidden_size=100)
            model = models.TransformerModel(source_encoder=encoder, features_encoder=True, **sizes)
        else:
            encoder = modules.LSTMEncoder(embedding_size=100, hidden_size=100)
            features = modules.LinearEncoder(embedding_size=100, output_size=encoder.output_size)
            more = {"enforce_monotonic": True} if kind == "hard" else {}
            which = models.HardAttentionLSTMModel if kind == "hard" else models.PointerGeneratorLSTMModel
            model = which(source_encoder=encoder, features_encoder=features, **sizes, **more)
        best = callbacks.ModelCheckpoint(request["folder"], "best", monitor="val_accuracy", mode="max")
        quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
        trainer = lightning.Trainer(
            accelerator="cpu", max_epochs=request["epochs"], num_sanity_val_steps=0, callbacks=[best], **quiet
        )
        trainer.fit(model, files)
        model.load_state_dict(torch.load(best.best_model_path, weights_only=False)["state_dict"])
        model.eval()
        symbols = mapper(files.index)

        def inflect(words: Sequence[Word]) -> list[str]:
            # Its reader wants a column of forms: it gets the lemmas, which its greedy decoder does not look at.
            asked = Path(request["folder"]) / "asked.tsv"
            asked.write_text("".join(f"{lemma}\t{lemma}\t{features}\n" for lemma, features in words), encoding="utf-8")
            items = datasets.IterableDataset(str(asked), symbols, files.parser)
            batches = loaders.DataLoader(items, collate_fn=files.collator, batch_size=32)
            with torch.inference_mode():
                found = [row for batch in batches for row in model.predict_step(batch, 0)]
            return ["".join(symbols.decode_target(row)) for row in found]

        return inflect

    return learn


def of_tags(module: str, tags: Mapping[str, str]) -> Callable[[Request], Inflect]:
    """LemmInflect and pyInflect have the same interface; of several forms the first counts."""

    def learn(_: Request) -> Inflect:
        get = import_module(module).getInflection
        return lambda words: [
            (get(lemma, tag=tags[features], inflect_oov=True) or ("",))[0] for lemma, features in words
        ]

    return learn


def inflect_engine(_: Request) -> Inflect:
    engine = import_module("inflect").engine()
    return lambda words: [engine.present_participle(lemma) for lemma, _ in words]


PENN = {"V;NFIN": "VB", "V;3;SG;PRS": "VBZ", "V;PST": "VBD", "V;V.PTCP;PRS": "VBG", "V;V.PTCP;PST": "VBN"}
_YOYODYNE = "embeddings and hidden layers 100, batch 32, Adam 0.001, dropout 0.2, best dev epoch"
_VISION = "uninstall torchvision and torchaudio where their builds do not fit torch's"

ADAPTERS: dict[str, Adapter] = {
    OURS: Adapter("reinflect", ours, "one model"),
    "baseline": Adapter("reinflect", baseline, "the rule baseline"),
    "yoyodyne-pointer": Adapter("yoyodyne", yoyodyne("pointer"), f"pointer-generator LSTM, {_YOYODYNE}", more=_VISION),
    "yoyodyne-hard": Adapter("yoyodyne", yoyodyne("hard"), f"monotonic hard attention, {_YOYODYNE}", more=_VISION),
    "yoyodyne-transformer": Adapter(
        "yoyodyne", yoyodyne("transformer"), f"Transformer of one layer, {_YOYODYNE}", more=_VISION
    ),
    "lemminflect": Adapter("lemminflect", of_tags("lemminflect", PENN), "English: dictionary, rules for others", PENN),
    "pyinflect": Adapter("pyinflect", of_tags("pyinflect", PENN), "English: dictionary, rules for others", PENN),
    "inflect": Adapter("inflect", inflect_engine, "English: rules; present participles only", {"V;V.PTCP;PRS": "-ing"}),
}


def cpu_seconds() -> float:
    """Of this process, and of those it started that have ended."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def work(adapter: Adapter, request: Request) -> Report:
    inflect = adapter.learn(request)
    known = [tuple(line.split("\t")) for line in Path(request["train"]).read_text(encoding="utf-8").splitlines()]
    warm_up = [(lemma, features) for lemma, _, features in known if not adapter.tags or features in adapter.tags]
    inflect(warm_up[:WARM_UP])
    ready, start = cpu_seconds(), time.process_time()
    forms = inflect([(lemma, features) for lemma, features in request["words"]])
    return {"ready": ready, "inflecting": time.process_time() - start, "forms": forms}


def main(name: str, what: str) -> None:
    """`NAME version` prints the version; `NAME FILE` replaces the request in the file by the report."""
    adapter = ADAPTERS[name]
    if what == "version":
        try:
            # Of a checkout the metadata may be older than the code.
            ours = adapter.package == OURS
            print(import_module(OURS).__version__ if ours else metadata.version(adapter.package))
        except ImportError:  # which PackageNotFoundError is too
            sys.exit(NOT_INSTALLED)
        return
    file = Path(what)
    report = work(adapter, json.loads(file.read_text(encoding="utf-8")))
    file.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
