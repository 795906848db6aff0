#!/bin/sh
# The paper, reproduced: 2,537 models and 51 of soft attention, for 52 languages in three settings, on one GPU.
#   runs/paper.sh [DATA [OUT [options of reinflect benchmark]]]
# DATA is a folder with the files of the shared task; they are downloaded if it is not there. All tables are in
# OUT/results.md. The same command goes on where it was stopped; --time-limit SECONDS stops it, --merge FOLDER takes over
# what another machine has done.
set -eu
data=${1:-conll2017}
out=${2:-paper}
[ $# -lt 2 ] && shift $# || shift 2
cd "$(dirname "$0")/.."
reinflect=.venv/bin/reinflect
[ -d "$data" ] || $reinflect data fetch conll2017 --into "$data"
exec $reinflect benchmark --data "$data" --settings low,medium,high --grid paper --device cuda --out "$out" "$@"
