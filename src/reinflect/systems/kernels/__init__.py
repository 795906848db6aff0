"""The recurrent cells, once per backend: torch, numba for CPUs, Triton for GPUs."""
