"""AdaDelta in one pass over the parameters, compiled for the CPU."""

import numpy as np

from reinflect.compiled import FAST, compiled


@compiled(**FAST)
def adadelta(parameters, gradient, first, second, scale, active, step, rho, epsilon):
    """Update the models that are active. *Shapes:* (M, numbers) up to `second`, then (M)"""
    one = np.float32(1.0)
    for m in range(parameters.shape[0]):
        if active[m] == 0:
            continue
        p, g, a, b, s = parameters[m], gradient[m], first[m], second[m], scale[m]
        k, r, e = step[m], rho[m], epsilon[m]
        for j in range(p.shape[0]):
            slope = g[j] * s
            a[j] = r * a[j] + (one - r) * slope * slope
            change = slope * np.sqrt((b[j] + e) / (a[j] + e))
            b[j] = r * b[j] + (one - r) * change * change
            p[j] -= k * change
