#!/bin/bash
# Clients that continue and divide downloads: curl, wget and aria2.
set -euo pipefail
for program in curl wget aria2c; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/ranges.py"
