"""Roll-ins compiled for the CPU: what `batch.roll_in` does, one item after the other in one call.

Step by step in torch, a roll-in is a hundred operations on a few numbers each, and takes longer than the update.
"""

import numpy as np
import torch
from torch import Tensor

from reinflect.compiled import FAST, compiled
from reinflect.layers.batches import Drawn, Lemmas
from reinflect.layers.numba_cells import add_product, coupled, lstm
from reinflect.layers.numba_random import ONE, draw
from reinflect.systems.haem import batch as haem
from reinflect.systems.haem.model import Decoder

COPY, DELETE, STOP, WRITE = haem.COPY_NUMBER, haem.DELETE_NUMBER, haem.STOP_NUMBER, haem.FIRST_WRITE
TO_CHARACTER = haem.FIRST_WRITE - haem.FIRST_CHARACTER
READERS = ("written", "history", "deleted")


def roll_in(
    drawn: Drawn, decoder: Decoder, form: Tensor, acts: Tensor, keys: Tensor, rooms: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor]:
    """The actions taken, the right ones, and the number of actions of each item.

    `acts`: where a model takes an action of its own (M, B, T); `keys` and `rooms` are for the numbers that draw it.
    """
    with torch.enable_grad():  # then the encoder's loops are the compiled ones, for the fewest items too
        parameters, state = decoder.parameters, decoder.start(Lemmas(**drawn.lemmas))
    models, items = drawn.bounds.shape
    outputs = decoder.penalty.shape[-1]
    nothing = parameters.flat.new_zeros(models, 1, 0)
    readers = [
        (
            decoder.tables[name],
            decoder.recurrent[name],
            parameters[f"{name}.empty"].unsqueeze(1),
            parameters[f"state.{name}"],
        )
        if name in decoder.tables
        else (nothing,) * 4
        for name in READERS
    ]
    taken = torch.full((models, drawn.longest, items), STOP)
    right = torch.zeros(models, drawn.longest, items, outputs, dtype=torch.bool)
    right[..., STOP] = True
    counts = torch.zeros_like(drawn.bounds)
    given = state.attended, state.features, parameters["output.weights"], parameters["output.bias"], decoder.penalty
    asked = state.symbols, state.lengths, form.transpose(1, 2), drawn.bounds, acts, keys
    _roll(
        tuple(tuple(map(_array, own)) for own in readers),
        *map(_array, given),
        *map(_array, asked),
        *rooms,
        *(own.numpy() for own in (taken, right, counts)),
    )
    return taken, right, counts


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


@compiled(**FAST)
def _roll(
    readers,
    attended,
    features,
    weights,
    bias,
    penalty,
    symbols,
    lengths,
    form,
    bounds,
    acts,
    keys,
    most_steps,
    most_outputs,
    taken,
    right,
    counts,
):
    models, steps, items, outputs = right.shape
    mix, logits = np.empty((1, features.shape[2]), np.float32), np.empty((1, outputs), np.float32)
    for m in range(models):
        for b in range(items):
            length, lemma, wanted = lengths[m, b], symbols[m, b], 0
            while wanted < form.shape[2] and form[m, b, wanted] != 0:
                wanted += 1
            goal = form[m, b, :wanted]
            costs, far = _costs_to_go(lemma[:length], goal), np.arange(wanted + 1)
            states = [_empty(readers[0][2][m]), _empty(readers[1][2][m]), _empty(readers[2][2][m])]
            position = 0
            for t in range(min(steps, bounds[m, b])):
                left = position < length
                mix[0] = attended[m, b, position + 1 if left else 0] + features[m, b]
                for place in range(3):
                    if readers[place][0].shape[2]:
                        add_product(mix, 0, states[place][0], readers[place][3][m], 0, mix.shape[1])
                for k in range(mix.shape[1]):
                    mix[0, k] = max(mix[0, k], np.float32(0.0))
                logits[0] = bias[m] + penalty[m, 1 if left else 0]
                add_product(logits, 0, mix, weights[m], 0, outputs)
                allowed = right[m, t, b]
                _mark(allowed, costs, far, goal, position, lemma[position] if left else -1, left)
                action, most = STOP, -np.inf
                for a in range(outputs):
                    score = np.float64(logits[0, a])
                    possible = allowed[a]
                    if acts[m, b, t]:
                        drawn = draw(keys[m], (b * most_steps + t) * most_outputs + a)
                        score, possible = score - np.log(-np.log(drawn / ONE)), drawn > 0
                    if possible and score > most:
                        action, most = a, score
                taken[m, t, b] = action
                counts[m, b] = t + 1
                if action == STOP:
                    break
                here = lemma[position] if left else 0
                character = here if action == COPY else action - TO_CHARACTER
                _read(readers[1], m, action, states[1])
                if action == DELETE:
                    _read(readers[2], m, here, states[2])
                else:
                    _read(readers[0], m, character, states[0])
                    _write(far, goal, character)
                    if action >= WRITE:
                        states[2] = _empty(readers[2][2][m])
                position += action <= DELETE


@compiled(**FAST)
def _empty(shown):
    """What s_t sees of an LSTM that has read nothing, its output and its memory. *Shape:* (1, H) each"""
    return shown.copy(), np.zeros_like(shown), np.zeros_like(shown)


@compiled(**FAST)
def _read(reader, m, number, state):
    """Let an LSTM read one more symbol, if there is such an LSTM."""
    width = reader[0].shape[2]
    if width:
        gates, seen, old = reader[0][m, number : number + 1].copy(), np.empty_like(state[2]), state[2].copy()
        add_product(gates, 0, state[1], reader[1][m], 0, width)
        if width == 4 * old.shape[1]:
            lstm(gates, old, state[2], seen, state[1])
        else:
            coupled(gates, old, state[2], seen, state[1], reader[1][m])
        state[0][:] = state[1]


@compiled(**FAST)
def _costs_to_go(lemma, goal):
    """The cost to write the form from its character j with the lemma from position i, as `Expert.costs`."""
    costs = np.empty((len(lemma) + 1, len(goal) + 1), np.int64)
    for i in range(len(lemma), -1, -1):
        for j in range(len(goal), -1, -1):
            best = len(lemma) - i + len(goal) - j
            if i < len(lemma):
                best = min(best, costs[i + 1, j] + 1)
            if j < len(goal):
                best = min(best, costs[i, j + 1] + 1)
            if i < len(lemma) and j < len(goal) and lemma[i] == goal[j]:
                best = min(best, costs[i + 1, j + 1])
            costs[i, j] = best
    return costs


@compiled(**FAST)
def _mark(right, costs, far, goal, position, attended, left):
    """Mark the right actions, as `Expert.right`."""
    right[STOP], nearest, best = False, far.min(), 1 << 20
    for j in range(len(far)):
        if far[j] == nearest:
            best = min(best, costs[position, j])
    for j in range(len(far)):
        if far[j] != nearest:
            continue
        if j < len(goal) and costs[position, j + 1] + 1 == best:
            right[goal[j] + TO_CHARACTER] = True
        if left and costs[position + 1, j] + 1 == best:
            right[DELETE] = True
        if left and j < len(goal) and goal[j] == attended and costs[position + 1, j + 1] == best:
            right[COPY] = True
    if not left and best == 0:
        right[STOP] = True


@compiled(**FAST)
def _write(far, goal, character):
    """Take note of a written character, as `Expert.write`."""
    before = far[0]
    far[0] += 1
    for j in range(1, len(far)):
        best = min(far[j], far[j - 1]) + 1
        if goal[j - 1] == character:
            best = min(best, before)
        before, far[j] = far[j], best
