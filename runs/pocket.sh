#!/bin/sh
# The pocket models in models/reinflect_models: five models of each language inflect 60,000 further cells, and one small
# model learns from the gold items and from the cells on which all or all but one of them agree.
#   runs/pocket.sh [DATA [OUT [options of bench.distil]]]
# DATA is a folder with the files of the shared task; they are downloaded if it is not there. The same command goes on
# where it was stopped. For a few languages at a time: LANGUAGES=finnish,welsh runs/pocket.sh. DEVICE=cpu or cuda and
# WORKERS=3 choose what trains; INTO=folder is another folder for the models.
set -eu
data=${1:-conll2017}
out=${2:-pocket}
[ $# -lt 2 ] && shift $# || shift 2
cd "$(dirname "$0")/.."
reinflect=.venv/bin/reinflect
[ -d "$data" ] || $reinflect data fetch conll2017 --into "$data"

teach() {
    $reinflect benchmark --data "$data" --languages "$2" --settings "$1" --grid teacher --cells 60000 \
        --device "${DEVICE:-auto}" ${WORKERS:+--workers "$WORKERS"} --out "$out/teacher"
}
# Scottish Gaelic has no training file of the size high.
languages=${LANGUAGES:-all}
others=$(printf %s "$languages" | tr , '\n' | grep -vx scottish-gaelic | paste -sd, -)
[ -z "$others" ] || teach high "$others"
case ",$languages," in *,scottish-gaelic,* | ,all,) teach medium scottish-gaelic ;; esac
[ "$languages" = all ] || set -- --languages "$languages" "$@"
exec .venv/bin/python -m bench.distil --data "$data" --teacher "$out/teacher" --out "$out/students" \
    --into "${INTO:-models/reinflect_models}" --device "${DEVICE:-auto}" ${WORKERS:+--workers "$WORKERS"} "$@"
