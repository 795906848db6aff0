#!/bin/sh
# Three languages at low with the code of the whole benchmark, in some minutes on two processor cores, without a GPU.
#   runs/laptop.sh [DATA [OUT]]
# DATA is a folder with the files of the shared task; they are downloaded if it is not there. The table at the end is
# also in OUT/results.md. The same command goes on where it was stopped.
set -eu
data=${1:-conll2017}
out=${2:-laptop}
languages=welsh,turkish,scottish-gaelic
cd "$(dirname "$0")/.."
reinflect=.venv/bin/reinflect
[ -d "$data" ] || $reinflect data fetch conll2017 --languages "$languages" --into "$data"
exec $reinflect benchmark --data "$data" --languages "$languages" --settings low --grid quick --device cpu --out "$out"
