#!/bin/sh
# The paper, reproduced: 2,537 models and 51 of soft attention, for 52 languages in three settings, on one GPU.
#   runs/paper.sh [DATA [OUT [options of reinflect benchmark]]]
exec "$(dirname "$0")/gpu.sh" conll2017 paper low,medium,high "$@"
