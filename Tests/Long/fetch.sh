#!/bin/bash
# `larder fetch` and nginx: 1 GiB whole, killed and gone on with, in parts, changed in the middle; a list of 300; beside curl and aria2.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v nginx > /dev/null; then
    echo "left out: it needs python3 and nginx"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/fetch.py" "$@"
