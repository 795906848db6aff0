"""The measurements behind BENCHMARKS.md, each a command: `python -m bench.NAME`."""
