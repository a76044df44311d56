#!/bin/bash
# Recordings under what may befall them: 40 planted secrets are in no file that a recording leaves, a login replays with and without the key, what
# nearly matches is named and matches by what is proposed, clients with a cache of their own or half a download are recorded and fresh ones replay,
# HAR holds its schema, is read by others and theirs is replayed, two recordings of one run against nginx have the same root, 50 kills, a full disk, a
# folder that cannot be written to. `-s` is what `make test` runs: the secrets, the login, two near misses and one kill.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v curl > /dev/null; then
    echo "left out: it needs python3 and curl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/recordings.py" "$@"
