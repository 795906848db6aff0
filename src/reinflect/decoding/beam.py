"""Beam search: the few most probable sequences of actions, for all models and items at once.

At every step each hypothesis of an item is tried with every action, and the best K of them all go on. One that ends
among these K is put aside; the search for an item is over when K are put aside that no unfinished one can overtake.
With K = 1 this is greedy decoding.

Different actions can write the same form. To the search those are different hypotheses; in what comes out their
probabilities are added.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reinflect.decoding import greedy
from reinflect.systems.layers.batches import Lemmas
from reinflect.systems.layers.examples import NOTHING, Stack
from reinflect.systems.layers.states import select
from reinflect.systems.system import Decoder

WIDTH = 5
IMPOSSIBLE = -1e8
"""What is not allowed has log-probabilities far below this; a wide beam would take it for want of anything else."""
NEVER = float("-inf")


class Scored(NamedTuple):
    """A form and how probable a model finds it: all the ways of writing it that the search came upon."""

    form: str
    log_probability: float


class _Hypotheses:
    """The items that are still being searched, with K hypotheses each, which lie side by side in the decoder's state.

    The numbers of hypotheses are (M, B, K), those of items (M, B).
    """

    def __init__(self, decoder: Decoder, lemmas: Lemmas, asked: Tensor, width: int) -> None:
        models, items = asked.shape
        self.decoder, self.width = decoder, width
        self.places = torch.arange(items, device=asked.device).repeat(models, 1)
        self.state: Any = self._each(decoder.start(lemmas), self.places)
        self.shared = {field.name for field in fields(self.state)}
        """What no step has changed yet is the same for all hypotheses of an item, and by far the larger part."""
        self.running = asked
        self.caps, self.endless = greedy.most_actions(lemmas.lengths), greedy.ENDLESS_RUN + lemmas.lengths
        never = torch.full((models, items, width), NEVER, dtype=torch.float64, device=asked.device)
        self.scores = never.clone()
        self.scores[:, :, 0] = torch.where(asked, 0.0, NEVER)
        self.last = torch.full_like(never, NOTHING, dtype=torch.int64)
        self.run = torch.zeros_like(self.last)
        self.aside = {"scores": never, "steps": torch.zeros_like(self.last), "slots": torch.zeros_like(self.last)}
        """The best that have ended: at which step, and the hypothesis before it that took the last action."""

    def _each(self, state: Any, items: Tensor) -> Any:
        return select(state, items.repeat_interleave(self.width, dim=1))

    def step(self, number: int) -> tuple[Tensor, Tensor]:
        """Go on with the best K; what they wrote, and which hypotheses they come from. *Shape:* (M, B, K)"""
        models, items, width = self.scores.shape
        found, state = self.decoder.log_probabilities(self.state)
        found = torch.where(found < IMPOSSIBLE, NEVER, found).view(models, items, width, -1)
        totals = self.scores.unsqueeze(-1) + found
        # No hypothesis can end twice, so that of the best 2K no more than K end, and K are left to go on.
        best, which = totals.flatten(2).topk(2 * width, dim=-1)
        parents, actions = which // found.shape[-1], which % found.shape[-1]
        ends = actions == self.decoder.end
        self._put_aside(torch.where(ends, best, NEVER)[..., :width], number, parents[..., :width])
        on = torch.argsort(ends.int(), dim=-1, stable=True)[..., :width]
        self.scores, parents, actions = (own.gather(2, on) for own in (best, parents, actions))
        written = self._take(state, parents, actions)
        self._follow(written, parents, number)
        return written, parents

    def _put_aside(self, scores: Tensor, number: int, slots: Tensor) -> None:
        new = {"scores": scores, "steps": torch.full_like(slots, number), "slots": slots}
        both = {name: torch.cat([own, new[name]], dim=-1) for name, own in self.aside.items()}
        kept = both["scores"].topk(self.width, dim=-1).indices
        self.aside = {name: own.gather(2, kept) for name, own in both.items()}

    def _take(self, state: Any, parents: Tensor, actions: Tensor) -> Tensor:
        self.shared = {name for name in self.shared if getattr(state, name) is getattr(self.state, name)}
        first = torch.arange(parents.shape[1], device=parents.device).view(1, -1, 1) * self.width
        chosen = select(state, (first + parents).flatten(1), self.shared)
        written, self.state = self.decoder.advance(chosen, actions.flatten(1))
        self.shared = {name for name in self.shared if getattr(self.state, name) is getattr(chosen, name)}
        return written.view(parents.shape)

    def _follow(self, written: Tensor, parents: Tensor, number: int) -> None:
        """Give up hypotheses that repeat a character endlessly, and items that are done or have had their time."""
        last, run = self.last.gather(2, parents), self.run.gather(2, parents)
        wrote = written != NOTHING
        self.run = torch.where(wrote, torch.where(written == last, run + 1, 1), run)
        self.last = torch.where(wrote, written, last)
        alive = torch.where(self.run < self.endless.unsqueeze(-1), self.scores, NEVER)
        leader = alive.amax(dim=-1)
        overtaking = leader > self.aside["scores"][..., -1]
        self.running = self.running & overtaking & (number + 1 < self.caps)
        self.scores = torch.where(self.running.unsqueeze(-1), alive, NEVER)

    def drop_finished(self, results: dict[str, Tensor]) -> bool:
        """Whether any still run; where many do not, go on without them. What was put aside goes into the results."""
        self.deposit(results)
        most = int(self.running.sum(dim=1).max())
        if 0 < most <= 0.7 * self.running.shape[1]:
            chosen = torch.argsort(self.running.int(), dim=1, descending=True, stable=True)[:, :most]
            slots = torch.arange(self.width, device=chosen.device)
            self.state = select(self.state, (chosen.unsqueeze(-1) * self.width + slots).flatten(1))
            self.places, self.running, self.caps, self.endless = (
                own.gather(1, chosen) for own in (self.places, self.running, self.caps, self.endless)
            )
            each = chosen.unsqueeze(-1).expand(-1, -1, self.width)
            self.scores, self.last, self.run = (own.gather(1, each) for own in (self.scores, self.last, self.run))
            self.aside = {name: own.gather(1, each) for name, own in self.aside.items()}
        return most > 0

    def deposit(self, results: dict[str, Tensor]) -> None:
        places = self.places.unsqueeze(-1).expand(-1, -1, self.width)
        for name, own in self.aside.items():
            results[name].scatter_(1, places, own)


@torch.no_grad()
def beam(decoder: Decoder, lemmas: Lemmas, asked: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """What the best K sequences that end write at each step (-1: nothing), and how probable they are (-inf: none is).

    *Shape:* asked (M, B) → (M, B, K, steps), (M, B, K)
    """
    models, items = asked.shape
    rows = _Hypotheses(decoder, lemmas, asked, width)
    cap = int(rows.caps.max())
    written = lemmas.lengths.new_full((cap, models, items, width), NOTHING)
    parents = torch.zeros_like(written)
    results = {name: own.clone() for name, own in rows.aside.items()}
    step = 0
    for step in range(cap):
        new, before = rows.step(step)
        places = rows.places.unsqueeze(-1).expand(-1, -1, width)
        written[step].scatter_(1, places, new)
        parents[step].scatter_(1, places, before)
        if step % greedy.LOOK_EVERY == greedy.LOOK_EVERY - 1 and not rows.drop_finished(results):
            break
    rows.deposit(results)
    found, slots = [], results["slots"]
    for number in reversed(range(step)):
        earlier = number < results["steps"]
        found.append(torch.where(earlier, written[number].gather(2, slots), NOTHING))
        slots = torch.where(earlier, parents[number].gather(2, slots), slots)
    texts = torch.stack(found[::-1], dim=-1) if found else written.new_empty(models, items, width, 0)
    return texts, results["scores"]


def beam_all(
    decoder: Decoder, stack: Stack, files: Sequence[int], width: int, n: int, items_at_once: int | None = None
) -> list[list[list[Scored]]]:
    """At most n forms for each item of each model's file, best first; none where nothing came to an end."""
    which = torch.tensor(files, device=stack.device)
    answers: list[list[list[Scored]]] = [[[] for _ in range(len(stack.files[file]))] for file in files]
    for block in greedy.blocks(decoder, stack, files, items_at_once, width):
        lemmas, _ = stack.to_inflect(which, torch.from_numpy(block).to(stack.device), stack.longest(files, block))
        found = beam(decoder, lemmas, torch.from_numpy(block >= 0).to(stack.device), width)
        written, scores = (one.cpu().numpy() for one in found)
        for model, file in enumerate(files):
            forms = greedy.texts_of(written[model].reshape(-1, written.shape[-1]), stack.files[file].spellings)
            ways = list(map(Scored, forms, scores[model].ravel().tolist()))
            for place, item in enumerate(block[model].tolist()):
                if item >= 0:
                    answers[model][item] = merged(ways[place * width : (place + 1) * width], n)
    return answers


def merged(hypotheses: Iterable[Scored], n: int) -> list[Scored]:
    """The n most probable forms, each once, with the probabilities of all hypotheses of it added up."""
    ways: defaultdict[str, list[float]] = defaultdict(list)
    for form, score in hypotheses:
        if score > NEVER:
            ways[form].append(score)
    added = [Scored(form, _added(scores)) for form, scores in ways.items()]
    return sorted(added, key=lambda scored: -scored.log_probability)[:n]


def _added(scores: Sequence[float]) -> float:
    """The logarithm of the sum of probabilities, which are given as logarithms."""
    most = max(scores)
    return min(0.0, most + math.log(sum(math.exp(score - most) for score in scores)))
