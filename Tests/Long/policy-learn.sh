#!/bin/bash
# Real clients teach policies: pip, npm, cargo, go, apt, git and a script of curl, over https from hosts that lay out their URLs as the public ones
# do. The policies have at most 12 rules in all, the same clients run under them without a denial, and 1,000 other requests are denied and reach
# no server: half of them go to the learned hosts. What is not installed is named. `-s` takes pip, git and curl alone, as `make test` does.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/policy_learn.py" "$@"
