#!/bin/bash
# What `larder run --strict --summary` says of clients whose requests come through Larder, that send them past it, and that get tunnels: each line
# of the summary, and the exit code. `-v` prints the summaries. What is not installed is named.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/run_strict.py" "$@"
