#!/bin/sh
# The paper's models and those that go beyond them, for 52 languages in three settings, on one GPU.
#   runs/best.sh [DATA [OUT [options of reinflect benchmark]]]
exec "$(dirname "$0")/gpu.sh" conll2017 best low,medium,high "$@"
