#!/bin/sh
# The 27 data sets of the shared task of 2023, on one GPU; then `best` of all models in OUT/best.md.
#   runs/sigmorphon2023.sh [DATA [OUT [options of reinflect benchmark]]]
set -eu
cd "$(dirname "$0")/.."
runs/gpu.sh sigmorphon2023 small high "$@"
exec .venv/bin/python -m bench.best "${2:-sigmorphon2023-small}" --workers 8
