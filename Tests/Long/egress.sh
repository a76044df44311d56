#!/bin/bash
# 3,000 spellings of denied targets, directly and through Larder, in a network namespace: see egress.py. `-v` prints each that went through.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null || ! command -v ip > /dev/null || ! unshare -nm true 2> /dev/null; then
    echo "left out: it needs python3, openssl, ip, and the right to make a network namespace"
    exit 0
fi
# shellcheck disable=SC2016
PYTHONPATH=$(dirname "$0")/.. exec unshare -nm bash -c 'ip link set lo up && exec python3 -B "$@"' - "$(dirname "$0")/egress.py" "$@"
