#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
export LOAD=$WORK/load
cc -O2 -Wall -Werror -o "$LOAD" load.c
PYTHONPATH=.. exec python3 -B connections.py
