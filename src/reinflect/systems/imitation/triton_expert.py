"""The expert of `roll_in.py` on a GPU: one kernel chooses all actions of a step, one notes what they write."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from reinflect.systems.haem import COPY_NUMBER, DELETE_NUMBER, FIRST_CHARACTER, FIRST_WRITE, STOP_NUMBER

COPY, DELETE, STOP = tl.constexpr(COPY_NUMBER), tl.constexpr(DELETE_NUMBER), tl.constexpr(STOP_NUMBER)
TO_WRITE = tl.constexpr(FIRST_WRITE - FIRST_CHARACTER)


def act(
    costs: Tensor,
    distances: Tensor,
    form: Tensor,
    lengths: Tensor,
    position: Tensor,
    attended: Tensor,
    scores: Tensor,
    chance: Tensor,
    acts: Tensor,
    done: Tensor,
) -> tuple[Tensor, Tensor]:
    """The actions taken (M, B), and which are right (M, B, A). Costs, distances and form are of 32 bits."""
    models, items, actions = scores.shape
    taken = torch.empty_like(position)
    right = torch.empty(models, items, actions, dtype=torch.bool, device=scores.device)
    inputs = (tensor.contiguous() for tensor in (lengths, position, attended, scores, chance, acts, done))
    rows, places = costs.shape[2:]
    blocks = triton.next_power_of_2(places), triton.next_power_of_2(actions)
    _act[(models * items,)](costs, distances, form, *inputs, taken, right, rows, places, actions, *blocks, num_warps=1)
    return taken, right


@triton.jit(do_not_specialize=["rows", "places", "actions"])
def _act(
    costs,
    distances,
    form,
    lengths,
    position,
    attended,
    scores,
    chance,
    acts,
    done,
    taken,
    right,
    rows,
    places,
    actions,
    block: tl.constexpr,
    action_block: tl.constexpr,
):
    far: tl.constexpr = 1 << 20
    item = tl.program_id(0).to(tl.int64)
    j, action = tl.arange(0, block), tl.arange(0, action_block)
    there, not_last = j < places, j + 1 < places
    at, length = tl.load(position + item), tl.load(lengths + item)
    here = costs + (item * rows + at) * places + j
    left = at < length
    distance = tl.load(distances + item * places + j, mask=there, other=far)
    letter = tl.load(form + item * (places - 1) + j, mask=not_last, other=0)
    nearest = (distance == tl.min(distance, axis=0)) & there
    best = tl.min(tl.where(nearest, tl.load(here, mask=there, other=far), far), axis=0)
    write_cost = tl.load(here + 1, mask=not_last, other=far) + 1
    copy_cost = tl.load(here + places + 1, mask=not_last & left, other=far)
    delete_cost = tl.load(here + places, mask=there & left, other=far) + 1
    writes = tl.where(nearest & not_last & (write_cost == best), letter + TO_WRITE, -1)
    copies = nearest & not_last & (copy_cost == best) & (letter == tl.load(attended + item))
    is_right = tl.max((writes[:, None] == action[None, :]).to(tl.int32), axis=0)
    is_right = tl.where(action == COPY, tl.max(copies.to(tl.int32), axis=0), is_right)
    is_right = tl.where(action == DELETE, tl.max((nearest & (delete_cost == best)).to(tl.int32), axis=0), is_right)
    is_right = tl.where(action == STOP, ((at == length) & (best == 0)).to(tl.int32), is_right)
    real = action < actions
    score = tl.load(scores + item * actions + action, mask=real, other=float("-inf"))
    drawn = tl.load(chance + item * actions + action, mask=real, other=0.5)
    by_expert = tl.argmax(tl.where(is_right > 0, score, float("-inf")), axis=0)
    by_model = tl.argmax(score - tl.log(-tl.log(drawn)), axis=0)
    finished = tl.load(done + item) != 0
    chosen = tl.where(finished, STOP, tl.where(tl.load(acts + item) != 0, by_model, by_expert))
    tl.store(taken + item, chosen.to(tl.int64))
    tl.store(right + item * actions + action, (is_right > 0) | (finished & (action == STOP)), mask=real)


def write(distances: Tensor, form: Tensor, wanted: Tensor, characters: Tensor) -> None:
    """Change the distances of items that wrote a character, which is not negative. *Shape:* characters (M, B)"""
    models, items, places = distances.shape
    block = triton.next_power_of_2(places)
    _write[(models * items,)](distances, form, wanted, characters.contiguous(), places, block, num_warps=1)


@triton.jit
def _least(left, right):
    return tl.minimum(left, right)


@triton.jit(do_not_specialize=["places"])
def _write(distances, form, wanted, characters, places, block: tl.constexpr):
    far: tl.constexpr = 1 << 20
    item = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, block)
    there, not_first = j < places, (j > 0) & (j < places)
    character = tl.load(characters + item)
    cells = distances + item * places + j
    before = tl.load(cells, mask=there, other=far)
    shorter = tl.load(cells - 1, mask=not_first, other=far)
    matching = not_first & (tl.load(form + item * (places - 1) + j - 1, mask=not_first, other=-1) == character)
    after = tl.minimum(before + 1, tl.where(matching, shorter, far))
    after = tl.associative_scan(after - j, 0, _least) + j
    after = tl.where(j > tl.load(wanted + item), far, after)
    tl.debug_barrier()  # all have read before any writes
    if character >= 0:
        tl.store(cells, after, mask=there)
