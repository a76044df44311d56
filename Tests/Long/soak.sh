#!/bin/bash
# Half an hour of small responses, plain, intercepted and replayed, with what Larder occupies in a table: see Tests/Long/README.md.
# SOAK_SECONDS makes it shorter (at least 60).
set -euo pipefail
cd "$(dirname "$0")"
for program in cc openssl python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
export SOAK=$WORK/soak
cc -O2 -Wall -Werror -o "$SOAK" soak.c
PYTHONPATH=.. exec python3 -B soak.py
