"""Beam search: the most probable sequences of actions, for all models and items at once.

At every step each hypothesis of an item is extended by every action, and the best K continue. A hypothesis that ends
among the best K is finished; the search for an item ends when it has K finished hypotheses that are at least as
probable as every unfinished one. With K = 1 this is greedy decoding.

Different actions can write the same form. They are different hypotheses in the search; the result adds up their
probabilities.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from reinflect.decode import greedy
from reinflect.decode.forms import ENDLESS_RUN, IMPOSSIBLE, NEVER, Scored, merged
from reinflect.layers.batches import Lemmas, select
from reinflect.layers.examples import NOTHING, Stack
from reinflect.systems.system import Decoder


class _Hypotheses:
    """The items that are still being searched, with K hypotheses each, which are side by side in the decoder state.

    *Shape:* numbers of hypotheses (M, B, K), numbers of items (M, B)
    """

    def __init__(self, decoder: Decoder, lemmas: Lemmas, asked: Tensor, width: int) -> None:
        models, items = asked.shape
        self.decoder, self.width = decoder, width
        self.places = torch.arange(items, device=asked.device).repeat(models, 1)
        self.state: Any = select(decoder.start(lemmas), self.places.repeat_interleave(width, dim=1))
        self.shared = {field.name for field in fields(self.state)}
        """Fields of the state that no step has changed: equal for all hypotheses of an item, and by far the largest."""
        self.running = asked
        self.caps, self.endless = greedy.most_actions(lemmas.lengths), ENDLESS_RUN + lemmas.lengths
        never = torch.full((models, items, width), NEVER, dtype=torch.float64, device=asked.device)
        self.scores = never.clone()
        self.scores[:, :, 0] = torch.where(asked, 0.0, NEVER)
        self.last = torch.full_like(never, NOTHING, dtype=torch.int64)
        self.run = torch.zeros_like(self.last)
        self.finished = {"scores": never, "steps": torch.zeros_like(self.last), "slots": torch.zeros_like(self.last)}
        """The best finished hypotheses: the step at which each ended, and its slot before its last action."""

    def step(self, number: int) -> tuple[Tensor, Tensor]:
        """Continue with the best K; what they wrote, and the slots of their parents. *Shape:* (M, B, K)"""
        models, items, width = self.scores.shape
        found, state = self.decoder.log_probabilities(self.state)
        found = torch.where(found < IMPOSSIBLE, NEVER, found).view(models, items, width, -1)
        totals = self.scores.unsqueeze(-1) + found
        # A hypothesis can end only once, so at most K of the best 2K end, and at least K are left to continue.
        best, which = totals.flatten(2).topk(2 * width, dim=-1)
        parents, actions = which // found.shape[-1], which % found.shape[-1]
        ends = actions == self.decoder.end
        self._finish(torch.where(ends, best, NEVER)[..., :width], number, parents[..., :width])
        open_ones = torch.argsort(ends.int(), dim=-1, stable=True)[..., :width]
        self.scores, parents, actions = (own.gather(2, open_ones) for own in (best, parents, actions))
        written = self._advance(state, parents, actions)
        self._give_up(written, parents, number)
        return written, parents

    def _finish(self, scores: Tensor, number: int, slots: Tensor) -> None:
        new = {"scores": scores, "steps": torch.full_like(slots, number), "slots": slots}
        both = {name: torch.cat([own, new[name]], dim=-1) for name, own in self.finished.items()}
        best = both["scores"].topk(self.width, dim=-1).indices
        self.finished = {name: own.gather(2, best) for name, own in both.items()}

    def _advance(self, state: Any, parents: Tensor, actions: Tensor) -> Tensor:
        self.shared = {name for name in self.shared if getattr(state, name) is getattr(self.state, name)}
        first = torch.arange(parents.shape[1], device=parents.device).view(1, -1, 1) * self.width
        chosen = select(state, (first + parents).flatten(1), self.shared)
        written, self.state = self.decoder.advance(chosen, actions.flatten(1))
        self.shared = {name for name in self.shared if getattr(self.state, name) is getattr(chosen, name)}
        return written.view(parents.shape)

    def _give_up(self, written: Tensor, parents: Tensor, number: int) -> None:
        """Stop hypotheses that repeat a character endlessly, and items that are finished or at their cap."""
        self.last, self.run = greedy.extended_runs(written, self.last.gather(2, parents), self.run.gather(2, parents))
        alive = torch.where(self.run < self.endless.unsqueeze(-1), self.scores, NEVER)
        overtaking = alive.amax(dim=-1) > self.finished["scores"][..., -1]
        self.running = self.running & overtaking & (number + 1 < self.caps)
        self.scores = torch.where(self.running.unsqueeze(-1), alive, NEVER)

    def drop_finished(self, results: dict[str, Tensor]) -> bool:
        """Write finished hypotheses into the results; drop finished items if there are many; whether any is running."""
        self.write(results)
        running, chosen = greedy.survivors(self.running)
        if chosen is not None:
            slots = torch.arange(self.width, device=chosen.device)
            self.state = select(self.state, (chosen.unsqueeze(-1) * self.width + slots).flatten(1))
            for name in ("places", "running", "caps", "endless", "scores", "last", "run"):
                setattr(self, name, greedy.kept(getattr(self, name), chosen))
            self.finished = {name: greedy.kept(own, chosen) for name, own in self.finished.items()}
        return running

    def write(self, results: dict[str, Tensor]) -> None:
        places = self.places.unsqueeze(-1).expand(-1, -1, self.width)
        for name, own in self.finished.items():
            results[name].scatter_(1, places, own)


@torch.no_grad()
def beam(decoder: Decoder, lemmas: Lemmas, asked: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """What the best K finished hypotheses write at each step (-1: nothing), and their log-probabilities (-inf: none).

    *Shape:* asked (M, B) → (M, B, K, steps), (M, B, K)
    """
    models, items = asked.shape
    active = _Hypotheses(decoder, lemmas, asked, width)
    cap = int(active.caps.max())
    written = lemmas.lengths.new_full((cap, models, items, width), NOTHING)
    parents = torch.zeros_like(written)
    results = {name: own.clone() for name, own in active.finished.items()}
    step = 0
    for step in range(cap):
        new, before = active.step(step)
        places = active.places.unsqueeze(-1).expand(-1, -1, width)
        written[step].scatter_(1, places, new)
        parents[step].scatter_(1, places, before)
        if step % greedy.LOOK_EVERY == greedy.LOOK_EVERY - 1 and not active.drop_finished(results):
            break
    active.write(results)
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
    """At most n forms for each item of each model's file, the most probable first; none if no hypothesis ended."""
    answers: list[list[list[Scored]]] = [[[] for _ in range(len(stack.files[file]))] for file in files]
    for items, lemmas, _, asked in greedy.batches(decoder, stack, files, items_at_once, width):
        written, scores = (own.cpu().numpy() for own in beam(decoder, lemmas, asked, width))
        for model, file in enumerate(files):
            forms = greedy.texts_of(written[model].reshape(-1, written.shape[-1]), stack.files[file].spellings)
            ways = list(map(Scored, forms, scores[model].ravel().tolist()))
            for place, item in enumerate(items[model].tolist()):
                if item >= 0:
                    answers[model][item] = merged(ways[place * width : (place + 1) * width], n)
    return answers
