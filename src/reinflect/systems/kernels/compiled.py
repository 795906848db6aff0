"""The LSTM's recurrence compiled for the CPU.

At the small batches these models like, the time of a run on a CPU is the time of its calls: twenty steps of a dozen
tensor operations on a few hundred numbers each. Here a whole run is one call. Same arithmetic as `models.lstm`, which
the tests compare it with.
"""

import numpy as np

from reinflect.compiling import compiled

HOW = {
    "nogil": True,
    # Sums may be rearranged, but NaN stays NaN: a model that has gone astray must be found out, and must not end the
    # run of its fleet by an error either.
    "fastmath": {"reassoc", "contract", "arcp", "nsz", "afn"},
    "error_model": "numpy",
}


@compiled(**HOW)
def _add_product(out, left, right, rows, inner, width):
    """out += left @ right, four inner steps at a time so that `out` is loaded and stored a quarter as often."""
    whole = inner - inner % 4  # two rows share each weight that is loaded
    row = 0
    while row + 1 < rows:
        first, second = out[row], out[row + 1]
        one, two = left[row], left[row + 1]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = one[k], one[k + 1], one[k + 2], one[k + 3]
            b0, b1, b2, b3 = two[k], two[k + 1], two[k + 2], two[k + 3]
            w0, w1, w2, w3 = right[k], right[k + 1], right[k + 2], right[k + 3]
            for j in range(width):
                first[j] += a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
                second[j] += b0 * w0[j] + b1 * w1[j] + b2 * w2[j] + b3 * w3[j]
        for k in range(whole, inner):
            a0, b0, w0 = one[k], two[k], right[k]
            for j in range(width):
                first[j] += a0 * w0[j]
                second[j] += b0 * w0[j]
        row += 2
    if row < rows:
        first, one = out[row], left[row]
        for k in range(0, whole, 4):
            a0, a1, a2, a3 = one[k], one[k + 1], one[k + 2], one[k + 3]
            w0, w1, w2, w3 = right[k], right[k + 1], right[k + 2], right[k + 3]
            for j in range(width):
                first[j] += a0 * w0[j] + a1 * w1[j] + a2 * w2[j] + a3 * w3[j]
        for k in range(whole, inner):
            a0, w0 = one[k], right[k]
            for j in range(width):
                first[j] += a0 * w0[j]


@compiled(**HOW)
def _tanh(values, start, end):
    """tanh in place: a continued fraction near zero, then the double-angle rule twice; good to single precision.

    Written out because the library's tanh keeps the loop from being vectorised.
    """
    for j in range(start, end):
        x = min(max(values[j], np.float32(-9.0)), np.float32(9.0)) * np.float32(0.25)
        s = x * x
        top = x * (((s + np.float32(378.0)) * s + np.float32(17325.0)) * s + np.float32(135135.0))
        low = ((np.float32(28.0) * s + np.float32(3150.0)) * s + np.float32(62370.0)) * s + np.float32(135135.0)
        t = top / low
        t = np.float32(2.0) * t / (np.float32(1.0) + t * t)
        values[j] = np.float32(2.0) * t / (np.float32(1.0) + t * t)


@compiled(**HOW)
def forward(gates, recurrent, keep, resets, outputs, memories, shown, first, last):
    """Run the models first … last - 1. `gates` become the gates after their non-linearities.

    `outputs` and `memories` (M, T + 1, B, H) begin with the empty state; `shown` is tanh of the memories.
    """
    _, steps, items, width = gates.shape
    hidden = width // 4
    half = np.float32(0.5)
    before = np.empty((items, hidden), dtype=gates.dtype)
    memory = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(first, last):
        outputs[m, 0] = 0.0
        memories[m, 0] = 0.0
        for t in range(steps):
            for b in range(items):
                kept = keep[m, t, b] if resets else np.float32(1.0)
                for k in range(hidden):
                    before[b, k] = outputs[m, t, b, k] * kept
                    memory[b, k] = memories[m, t, b, k] * kept
            here = gates[m, t]
            _add_product(here, before, recurrent[m], items, hidden, width)
            for b in range(items):
                row, new, seen, out = here[b], memories[m, t + 1, b], shown[m, t, b], outputs[m, t + 1, b]
                for j in range(3 * hidden):  # σ(x) = (1 + tanh(x / 2)) / 2
                    row[j] *= half
                _tanh(row, 0, width)
                for j in range(3 * hidden):
                    row[j] = row[j] * half + half
                for k in range(hidden):
                    new[k] = row[hidden + k] * memory[b, k] + row[k] * row[3 * hidden + k]
                    seen[k] = new[k]
                _tanh(seen, 0, hidden)
                for k in range(hidden):
                    out[k] = row[2 * hidden + k] * seen[k]


@compiled(**HOW)
def backward(gradient, gates, transposed, keep, resets, memories, shown, flow, first, last):
    """The gradient of the gates before their non-linearities, into `flow`, for the models first … last - 1."""
    _, steps, items, width = gates.shape
    hidden = width // 4
    one = np.float32(1.0)
    output = np.empty((items, hidden), dtype=gates.dtype)
    later = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(first, last):
        output[:] = 0.0
        later[:] = 0.0
        for t in range(steps - 1, -1, -1):
            for b in range(items):
                kept = keep[m, t, b] if resets else one
                row, to, seen, old = gates[m, t, b], flow[m, t, b], shown[m, t, b], memories[m, t, b]
                given = gradient[m, t, b]
                for k in range(hidden):
                    enter, forget, release = row[k], row[hidden + k], row[2 * hidden + k]
                    candidate = row[3 * hidden + k]
                    d_out = given[k] + output[b, k]
                    d_memory = d_out * release * (one - seen[k] * seen[k]) + later[b, k]
                    to[k] = d_memory * candidate * enter * (one - enter)
                    to[hidden + k] = d_memory * old[k] * kept * forget * (one - forget)
                    to[2 * hidden + k] = d_out * seen[k] * release * (one - release)
                    to[3 * hidden + k] = d_memory * enter * (one - candidate * candidate)
                    later[b, k] = d_memory * forget * kept
            output[:] = 0.0
            _add_product(output, flow[m, t], transposed[m], items, width, hidden)
            if resets:
                for b in range(items):
                    for k in range(hidden):
                        output[b, k] *= keep[m, t, b]


@compiled(**HOW)
def coupled_forward(gates, weights, peep_in, peep_out, keep, resets, outputs, memories, shown, first, last):
    """Run the models first … last - 1 with the coupled cell; the arguments are those of `forward`.

    The order of gates is input, output, candidate.
    """
    _, steps, items, width = gates.shape
    hidden = width // 3
    half, one = np.float32(0.5), np.float32(1.0)
    before = np.empty((items, hidden), dtype=gates.dtype)
    memory = np.empty((items, hidden), dtype=gates.dtype)
    peep = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(first, last):
        outputs[m, 0] = 0.0
        memories[m, 0] = 0.0
        for t in range(steps):
            for b in range(items):
                kept = keep[m, t, b] if resets else one
                for k in range(hidden):
                    before[b, k] = outputs[m, t, b, k] * kept
                    memory[b, k] = memories[m, t, b, k] * kept
            here, new = gates[m, t], memories[m, t + 1]
            _add_product(here, before, weights[m], items, hidden, width)
            peep[:] = 0.0
            _add_product(peep, memory, peep_in[m], items, hidden, hidden)
            for b in range(items):
                row = here[b]
                for k in range(hidden):
                    row[k] = (row[k] + peep[b, k]) * half
                _tanh(row, 0, hidden)
                _tanh(row, 2 * hidden, width)
                for k in range(hidden):
                    row[k] = row[k] * half + half
                    new[b, k] = memory[b, k] + row[k] * (row[2 * hidden + k] - memory[b, k])
            peep[:] = 0.0
            _add_product(peep, new, peep_out[m], items, hidden, hidden)
            for b in range(items):
                row, seen, out = here[b], shown[m, t, b], outputs[m, t + 1, b]
                for k in range(hidden):
                    row[hidden + k] = (row[hidden + k] + peep[b, k]) * half
                    seen[k] = new[b, k]
                _tanh(row, hidden, 2 * hidden)
                _tanh(seen, 0, hidden)
                for k in range(hidden):
                    row[hidden + k] = row[hidden + k] * half + half
                    out[k] = row[hidden + k] * seen[k]


@compiled(**HOW)
def coupled_backward(gradient, gates, weights, peep_in, peep_out, keep, resets, memories, shown, flow, first, last):
    """The gradient of the coupled cell's gates before their non-linearities; weights come transposed."""
    _, steps, items, width = gates.shape
    hidden = width // 3
    one = np.float32(1.0)
    output = np.empty((items, hidden), dtype=gates.dtype)
    later = np.empty((items, hidden), dtype=gates.dtype)
    memory = np.empty((items, hidden), dtype=gates.dtype)
    given = np.empty((items, hidden), dtype=gates.dtype)
    for m in range(first, last):
        output[:] = 0.0
        later[:] = 0.0
        for t in range(steps - 1, -1, -1):
            for b in range(items):
                row, to, seen = gates[m, t, b], flow[m, t, b], shown[m, t, b]
                for k in range(hidden):
                    release = row[hidden + k]
                    d_out = gradient[m, t, b, k] + output[b, k]
                    to[hidden + k] = d_out * seen[k] * release * (one - release)
                    given[b, k] = to[hidden + k]
                    memory[b, k] = d_out * release * (one - seen[k] * seen[k]) + later[b, k]
            _add_product(memory, given, peep_out[m], items, hidden, hidden)
            for b in range(items):
                kept = keep[m, t, b] if resets else one
                row, to, old = gates[m, t, b], flow[m, t, b], memories[m, t, b]
                for k in range(hidden):
                    enter, candidate = row[k], row[2 * hidden + k]
                    to[k] = memory[b, k] * (candidate - old[k] * kept) * enter * (one - enter)
                    to[2 * hidden + k] = memory[b, k] * enter * (one - candidate * candidate)
                    given[b, k] = to[k]
                    later[b, k] = memory[b, k] * (one - enter)
            _add_product(later, given, peep_in[m], items, hidden, hidden)
            output[:] = 0.0
            _add_product(output, flow[m, t], weights[m], items, width, hidden)
            if resets:
                for b in range(items):
                    for k in range(hidden):
                        output[b, k] *= keep[m, t, b]
                        later[b, k] *= keep[m, t, b]
