#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
for program in cc curl nginx python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
cc -O2 -Wall -Werror -o "$WORK/load" load.c
PYTHONPATH=.. exec python3 -B transforms.py
