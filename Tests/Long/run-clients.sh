#!/bin/bash
# Real clients through `larder run`, by the variables of `larder env`, and by those alone that docs/clients.md names for each: they fetch,
# install or clone over https, and again from the store, after a restart, offline and with the origin stopped. What is not installed is named.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/run_clients.py" "$@"
