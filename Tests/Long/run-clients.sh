#!/bin/bash
# Real clients through `larder run`, and by the variables of `larder env`: each fetches, installs or clones over https, and again from the
# store, offline and with the origin stopped. What is not installed is named.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
exec python3 "$(dirname "$0")/run_clients.py" "$@"
