#!/bin/sh
# The 103 languages of the shared task of 2018 in three settings, on one GPU; then `best` of all models in OUT/best.md.
#   runs/conll2018.sh [DATA [OUT [options of reinflect benchmark]]]
set -eu
cd "$(dirname "$0")/.."
runs/gpu.sh conll2018 small low,medium,high "$@"
exec .venv/bin/python -m bench.best "${2:-conll2018-small}" --workers 8
