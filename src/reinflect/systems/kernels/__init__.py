"""The recurrent cells: plain, compiled for CPUs, and as Triton kernels for GPUs."""
