"""Trajectories of a HAEM that learns by imitation: the models act, and an expert says what had been right.

A WRITE and a DELETE cost 1, a COPY and STOP nothing. What has been written stays: of all forms that begin with it,
those with the fewest characters too many or missing are the best that can be reached, and the actions on a cheapest way
to one of them are right, also after mistakes. Letters in shapes: J characters of the right form.
"""

from dataclasses import replace

import torch
from torch import Tensor

from reinflect.layers.examples import Drawn, Lemmas
from reinflect.layers.operations import on_triton, uniform
from reinflect.layers.parameters import Parameters
from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE, STOP_NUMBER, UNKNOWN_NUMBER
from reinflect.systems.haem.model import LEARNER as HAEM
from reinflect.systems.haem.model import Decoder, HaemBatch
from reinflect.systems.imitation import FORM, ImitationSettings

WHO_ACTS, WHICH_ACTION = 8, 9
"""Purposes of random numbers, beside those of dropout."""
MOST_STEPS, MOST_OUTPUTS = 4096, 4096
"""For random numbers: longer trajectories, or larger alphabets, would use some of them twice."""


@torch.no_grad()
def trajectories(
    drawn: Drawn, parameters: Parameters, settings: ImitationSettings, allowed: Tensor, epochs: Tensor, keys: Tensor
) -> HaemBatch:
    """Roll-ins: at each step the best-scored right action, or the model's own, drawn by its probability."""
    decoder, k = Decoder(parameters, settings, allowed), settings.roll_in
    chances = 1 - k / (k + torch.exp(epochs / k))
    lemmas = Lemmas(**drawn.lemmas)
    items, actions = lemmas.lengths.shape[1], decoder.penalty.shape[-1]
    acts = uniform(keys + WHO_ACTS, (items, drawn.longest), room=(items, MOST_STEPS)) < chances.view(-1, 1, 1)
    state = decoder.start(lemmas)
    expert = Expert(lemmas.symbols, lemmas.lengths, drawn.tapes[FORM])
    shape, room = (items, drawn.longest, actions), (items, MOST_STEPS, MOST_OUTPUTS)
    draws = uniform(keys + WHICH_ACTION, shape, room=room)
    done = torch.zeros_like(lemmas.lengths, dtype=torch.bool)
    counts = torch.zeros_like(lemmas.lengths)
    all_taken, all_right = [], []
    for step in range(drawn.longest):
        scores, state = decoder.log_probabilities(state)
        here = torch.minimum(state.position, state.lengths - 1).clamp(min=0)
        attended = state.symbols.gather(2, here.unsqueeze(-1)).squeeze(-1)
        taken, right = expert.act(state.position, attended, scores, draws[:, :, step], acts[:, :, step], done)
        all_taken.append(taken)
        all_right.append(right)
        counts = counts + ~done
        done = done | (taken == STOP_NUMBER) | (counts >= drawn.bounds)
        written, state = decoder.advance(state, taken)
        expert.write(written)
    return batch_of(drawn, torch.stack(all_taken, dim=1), torch.stack(all_right, dim=1), counts)


def batch_of(drawn: Drawn, taken: Tensor, right: Tensor, counts: Tensor) -> HaemBatch:
    """The arrays of `haem_tapes`, of actions taken on the device."""
    copies, deletes, writes = taken == COPY_NUMBER, taken == DELETE_NUMBER, taken >= FIRST_WRITE
    lengths = drawn.lemmas["lengths"].unsqueeze(1)
    position = _before(copies | deletes)
    lemma_left = position < lengths
    attended = drawn.lemmas["symbols"].gather(1, torch.minimum(position, lengths - 1).clamp(min=0))
    pushed = torch.where(copies, attended, taken - (FIRST_WRITE - FIRST_CHARACTER))
    since_write = _latest(deletes) >= _latest(writes)
    deleted_before = _before(deletes)
    deleted_state = torch.where(since_write, deleted_before, 0)
    return HaemBatch(
        **drawn.lemmas,
        taken=taken,
        right=right,
        weights=drawn.weights(counts),
        attended=torch.where(lemma_left, position + 1, 0),
        lemma_left=lemma_left.long(),
        written=_gathered(pushed, copies | writes),
        written_state=_before(copies | writes),
        deleted=_gathered(attended, deletes),
        keep=_gathered(deleted_state.ne(0).long(), deletes),
        deleted_state=deleted_state,
    )


def _before(flags: Tensor) -> Tensor:
    """The number of earlier steps that are flagged. *Shape:* (M, T, B)"""
    return flags.cumsum(dim=1) - flags.long()


def _latest(flags: Tensor) -> Tensor:
    """The latest flagged step before each, from 1; 0 where there is none. *Shape:* (M, T, B)"""
    steps = torch.arange(1, flags.shape[1] + 1, device=flags.device).view(1, -1, 1)
    latest = (flags * steps).cummax(dim=1).values
    return torch.cat([torch.zeros_like(latest[:, :1]), latest[:, :-1]], dim=1)


def _gathered(values: Tensor, flags: Tensor) -> Tensor:
    """The flagged values one after the other, then zeros. *Shape:* (M, T, B)"""
    models, steps, items = values.shape
    places = torch.where(flags, _before(flags), steps)
    return values.new_zeros(models, steps + 1, items).scatter_(1, places, values)[:, :-1]


FAR = 1 << 20
"""More than any cost."""


class Expert:
    """Knows the right actions of B items for each of M models, while these write."""

    def __init__(self, lemma: Tensor, lengths: Tensor, form: Tensor) -> None:
        """*Shape:* lemma (M, N, B), lengths (M, B), form (M, J, B), 0 after its last character"""
        self.lengths, self.form = lengths, form.transpose(1, 2)
        self._columns = torch.arange(form.shape[1] + 1, device=form.device)
        self.wanted = wanted = (self.form != UNKNOWN_NUMBER).sum(dim=2, keepdim=True)
        self._beyond = self._columns > wanted
        self.costs = self._costs_to_go(lemma, wanted)
        self.distances = self._columns.masked_fill(self._beyond, FAR)
        """Characters too many and missing, if what is written so far is taken for the first j of the form.
        *Shape:* (M, B, J + 1)"""
        self._on_gpu = on_triton(form)
        if self._on_gpu:
            tensors = self.form, self.costs, self.distances
            self.form, self.costs, self.distances = (tensor.int().contiguous() for tensor in tensors)

    def act(
        self, position: Tensor, attended: Tensor, scores: Tensor, chance: Tensor, acts: Tensor, done: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The actions taken (M, B), and which are right (M, B, A).

        Where a model `acts`, it takes an action drawn by its `scores`, with numbers `chance` from 0 to 1; elsewhere the
        best-scored right one. An item that is `done` only stops. *Shape:* (M, B), scores and chance (M, B, A)
        """
        if self._on_gpu:
            from reinflect.systems.imitation import triton_expert

            table = self.costs, self.distances, self.form, self.lengths
            return triton_expert.act(*table, position, attended, scores, chance, acts, done)
        right = self.right(position, attended, scores.shape[-1])
        best = scores.masked_fill(~right, float("-inf")).argmax(dim=-1)
        drawn = (scores - torch.log(-torch.log(chance))).argmax(dim=-1)
        right[..., STOP_NUMBER] |= done
        return torch.where(done, STOP_NUMBER, torch.where(acts, drawn, best)), right

    def _costs_to_go(self, lemma: Tensor, wanted: Tensor) -> Tensor:
        """The cost to write the form from its character j with the lemma from position i. *Shape:* (M, B, N + 2, J + 1)

        One row more than positions: nothing leads past the end of a lemma.
        """
        last = (wanted - self._columns).masked_fill(self._beyond, FAR)
        rows = [torch.full_like(last, FAR)]
        for position in reversed(range(lemma.shape[1] + 1)):
            row = rows[-1] + 1
            if position < lemma.shape[1]:
                matching = self.form == lemma[:, position].unsqueeze(-1)
                row[..., :-1] = torch.minimum(row[..., :-1], rows[-1][..., 1:].masked_fill(~matching, FAR))
            # A WRITE leads from j to j + 1: the least of all that follow.
            row = (row + self._columns).flip(-1).cummin(dim=-1).values.flip(-1) - self._columns
            rows.append(torch.where(self.lengths.eq(position).unsqueeze(-1), last, row.clamp(max=FAR)))
        return torch.stack(rows[::-1], dim=2)

    def right(self, position: Tensor, attended: Tensor, actions: int) -> Tensor:
        """Which actions are right. *Shape:* position and the character there (M, B) → (M, B, A)"""
        nearest = self.distances == self.distances.amin(dim=-1, keepdim=True)
        here, after = self._at(position), self._at(position + 1)
        after = after.masked_fill((position >= self.lengths).unsqueeze(-1), FAR)
        best = here.masked_fill(~nearest, FAR).amin(dim=-1, keepdim=True)
        writes = nearest[..., :-1] & (here[..., 1:] + 1 == best)
        copies = nearest[..., :-1] & (after[..., 1:] == best) & (self.form == attended.unsqueeze(-1))
        right = torch.zeros(*position.shape, actions + 1, dtype=torch.bool, device=position.device)
        written = self.form + (FIRST_WRITE - FIRST_CHARACTER)
        right.scatter_(2, torch.where(writes, written, actions), value=True)
        right[..., COPY_NUMBER] = copies.any(dim=-1)
        right[..., DELETE_NUMBER] = (nearest & (after + 1 == best)).any(dim=-1)
        right[..., STOP_NUMBER] = (position == self.lengths) & (best.squeeze(-1) == 0)
        return right[..., :actions]

    def _at(self, position: Tensor) -> Tensor:
        """*Shape:* (M, B) → (M, B, J + 1)"""
        index = position.view(*position.shape, 1, 1).expand(-1, -1, 1, self.costs.shape[-1])
        return self.costs.gather(2, index).squeeze(2)

    def write(self, characters: Tensor) -> None:
        """Take note of the character that each item wrote, or -1. *Shape:* (M, B)"""
        if self._on_gpu:
            from reinflect.systems.imitation import triton_expert

            triton_expert.write(self.distances, self.form, self.wanted, characters)
            return
        after = self.distances + 1
        matching = self.form == characters.unsqueeze(-1)
        after[..., 1:] = torch.minimum(after[..., 1:], self.distances[..., :-1].masked_fill(~matching, FAR))
        # A missing character leads from j to j + 1: the least of all before.
        after = ((after - self._columns).cummin(dim=-1).values + self._columns).masked_fill(self._beyond, FAR)
        self.distances = torch.where(characters.ge(0).unsqueeze(-1), after, self.distances)


LEARNER = replace(HAEM, trajectories=trajectories)
