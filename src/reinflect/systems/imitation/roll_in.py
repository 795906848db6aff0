"""Trajectories of a HAEM that learns by imitation: the models act, and an expert says what had been right."""

from dataclasses import replace

import torch
from torch import Tensor

from reinflect.layers.examples import Drawn, Lemmas
from reinflect.layers.operations import uniform
from reinflect.layers.parameters import Parameters
from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE, STOP_NUMBER
from reinflect.systems.haem.model import LEARNER as HAEM
from reinflect.systems.haem.model import Decoder, HaemBatch
from reinflect.systems.imitation import FORM, ImitationSettings
from reinflect.systems.imitation.expert import Expert

WHO_ACTS, WHICH_ACTION = 8, 9
"""Purposes of random numbers, beside those of dropout."""
MOST_STEPS, MOST_OUTPUTS = 4096, 4096
"""For random numbers: longer trajectories, or larger alphabets, would use some of them twice."""


def trajectories(
    drawn: Drawn, parameters: Parameters, settings: ImitationSettings, allowed: Tensor, epochs: Tensor, keys: Tensor
) -> HaemBatch:
    """Roll-ins: at each step the best-scored right action, or the model's own, drawn by its probability."""
    with torch.no_grad():
        decoder, k = Decoder(parameters, settings, allowed), settings.roll_in
        return batch_of(drawn, *roll_in(drawn, decoder, 1 - k / (k + torch.exp(epochs / k)), keys))


def roll_in(drawn: Drawn, decoder: Decoder, chances: Tensor, keys: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The actions taken (M, T, B), the right ones (M, T, B, A), and their number (M, B); `chances` (M): models act."""
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
    return torch.stack(all_taken, dim=1), torch.stack(all_right, dim=1), counts


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


LEARNER = replace(HAEM, trajectories=trajectories)
