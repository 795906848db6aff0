#!/bin/sh
# The 103 languages of the shared task of 2018 in three settings, on one GPU.
#   runs/conll2018.sh [DATA [OUT [options of reinflect benchmark]]]
exec "$(dirname "$0")/gpu.sh" conll2018 small low,medium,high "$@"
