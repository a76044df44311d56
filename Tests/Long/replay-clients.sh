#!/bin/bash
# Real clients recorded with the origins on and replayed with them gone, plain and intercepted: curl, pip, npm ci, apt, cargo, go, Maven, git in both
# its ways, Chromium, a Python script that logs in, posts and polls. What they were answered and what they made of it is the same both times. What
# is not installed is named. `-s` takes curl, git and the script alone, as `make test` does.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/replay_clients.py" "$@"
