#!/bin/sh
# The pocket models in models/reinflect_models: a few models of each language inflect 60,000 further cells, and one small
# model learns from the gold items and from the cells on which all or all but one of them agree.
#   runs/pocket.sh [DATA [OUT [options of bench.distil]]]
# DATA is a folder with the files of the shared task; they are downloaded if it is not there. The same command resumes
# where it was stopped. For a few languages at a time: LANGUAGES=finnish,welsh runs/pocket.sh. DEVICE=cpu or cuda and
# WORKERS=3 choose what trains; INTO=folder is another folder for the models.
set -eu
data=${1:-conll2017}
out=${2:-pocket}
[ $# -lt 2 ] && shift $# || shift 2
cd "$(dirname "$0")/.."
[ -d "$data" ] || .venv/bin/reinflect data fetch conll2017 --into "$data"
exec .venv/bin/python -m bench.distil --data "$data" --out "$out" --into "${INTO:-models/reinflect_models}" \
    --device "${DEVICE:-auto}" ${WORKERS:+--workers "$WORKERS"} ${LANGUAGES:+--languages "$LANGUAGES"} "$@"
