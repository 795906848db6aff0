#!/bin/sh
# The 27 data sets of the shared task of 2023, on one GPU.
#   runs/sigmorphon2023.sh [DATA [OUT [options of reinflect benchmark]]]
exec "$(dirname "$0")/gpu.sh" sigmorphon2023 small high "$@"
