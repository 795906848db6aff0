#!/bin/sh
# All models of a grid, for all languages of a shared task, on one GPU: what the other scripts here call.
#   runs/gpu.sh TASK GRID SETTINGS [DATA [OUT [options of reinflect benchmark]]]
# DATA is a folder with the files of the task (conll2017, conll2018, sigmorphon2023); they are downloaded if it is not
# there. All tables are in OUT/results.md. The same command goes on where it was stopped; --time-limit SECONDS stops it,
# --merge FOLDER takes over what another machine has done.
set -eu
task=$1 grid=$2 settings=$3
shift 3
data=${1:-$task}
out=${2:-$task-$grid}
[ $# -lt 2 ] && shift $# || shift 2
cd "$(dirname "$0")/.."
reinflect=.venv/bin/reinflect
[ -d "$data" ] || $reinflect data fetch "$task" --into "$data"

# Processes that share a GPU use it at the same time, and not in turns, while NVIDIA's MPS runs.
if command -v nvidia-cuda-mps-control >/dev/null 2>&1 && [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ]; then
    CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
    CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    if nvidia-cuda-mps-control -d >/dev/null 2>&1; then
        trap 'echo quit | nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf "$CUDA_MPS_PIPE_DIRECTORY"' EXIT
        trap : INT # the benchmark stops by itself, and keeps what it has
    else
        rmdir "$CUDA_MPS_PIPE_DIRECTORY"
        unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    fi
fi
$reinflect benchmark --data "$data" --settings "$settings" --grid "$grid" --device cuda --workers 8 --out "$out" "$@"
