"""AdaDelta in one pass over the parameters, compiled for the CPU."""

import numpy as np

from reinflect.compiling import compiled
from reinflect.models.compiled import HOW


@compiled(**HOW)
def adadelta(parameters, gradient, first, second, scale, active, step, rho, epsilon):
    """Update the models that are active. *Shapes:* (M, numbers), (M)"""
    one = np.float32(1.0)
    for m in range(parameters.shape[0]):
        if active[m] == 0:
            continue
        p, g, a, b, s = parameters[m], gradient[m], first[m], second[m], scale[m]
        for j in range(p.shape[0]):
            slope = g[j] * s
            a[j] = rho * a[j] + (one - rho) * slope * slope
            change = slope * np.sqrt((b[j] + epsilon) / (a[j] + epsilon))
            b[j] = rho * b[j] + (one - rho) * change * change
            p[j] -= step * change
