#!/bin/bash
# Programs that fetch through `larder run` and miss something offline, and the rules of docs/offline.md, each as it stands there: with them the
# program fetches all with the origin stopped, without any one of them it does not. What no rule has stored is recorded and replayed.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/run_offline.py" "$@"
