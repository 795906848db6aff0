"""The right edit actions in any state, also after mistakes.

A WRITE and a DELETE cost 1, a COPY and STOP nothing. What has been written stays: of all forms that begin with it,
those with the fewest characters too many or missing are the best that can be reached, and the actions on a cheapest way
to one of them are right. Letters in shapes: J characters of the right form.
"""

import torch
from torch import Tensor

from reinflect.layers.operations import on_triton
from reinflect.systems import haem

FAR = 1 << 20
"""More than any cost."""


class Expert:
    """Knows the right actions of B items for each of M models, while these write."""

    def __init__(self, lemma: Tensor, lengths: Tensor, form: Tensor) -> None:
        """*Shape:* lemma (M, N, B), lengths (M, B), form (M, J, B), 0 after its last character"""
        self.lengths, self.form = lengths, form.transpose(1, 2)
        self._columns = torch.arange(form.shape[1] + 1, device=form.device)
        self.wanted = wanted = (self.form != haem.UNKNOWN_NUMBER).sum(dim=2, keepdim=True)
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
        right[..., haem.STOP_NUMBER] |= done
        return torch.where(done, haem.STOP_NUMBER, torch.where(acts, drawn, best)), right

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
        written = self.form + (haem.FIRST_WRITE - haem.FIRST_CHARACTER)
        right.scatter_(2, torch.where(writes, written, actions), value=True)
        right[..., haem.COPY_NUMBER] = copies.any(dim=-1)
        right[..., haem.DELETE_NUMBER] = (nearest & (after + 1 == best)).any(dim=-1)
        right[..., haem.STOP_NUMBER] = (position == self.lengths) & (best.squeeze(-1) == 0)
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
