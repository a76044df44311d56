#!/bin/bash
# Real clients under rules with `operation`, over https with interception: what the operation is goes through, and the rest of what the client can
# do gets 403 and never reaches the server. git, skopeo with Debian's registry, npm, pip, cargo, go, Maven, apt. What is not installed is named.
# `-s` takes git and pip alone, as `make test` does.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/operations.py" "$@"
