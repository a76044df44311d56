#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")"
for program in cc curl nginx openssl python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
if ! cc -O2 -Wall -Werror -o "$WORK/handshakes" handshakes.c -lssl -lcrypto; then
    echo "left out: it needs the headers of OpenSSL"
    exit 0
fi
cc -O2 -Wall -Werror -o "$WORK/load" load.c
PYTHONPATH=.. exec python3 -B handshakes.py
