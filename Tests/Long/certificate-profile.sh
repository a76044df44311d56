#!/bin/bash
# The root and the leaves that clients are shown in tunnels, judged by RFC 5280 and by what fits of the CA/Browser Forum's baseline rules, as
# zlint would: by a reader of DER of our own, and by `openssl verify -x509_strict`.
set -euo pipefail
for program in openssl python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/certificate_profile.py"
