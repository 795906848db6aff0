#!/bin/sh
# The paper's models and those that go beyond them, for 52 languages in three settings, on one GPU; then `best` of all,
# and without each kind of model, in OUT/best.md.
#   runs/best.sh [DATA [OUT [options of reinflect benchmark]]]
set -eu
cd "$(dirname "$0")/.."
runs/gpu.sh conll2017 best low,medium,high "$@"
exec .venv/bin/python -m bench.best "${2:-conll2017-best}" --leave-out --workers 8
