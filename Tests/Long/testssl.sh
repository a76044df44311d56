#!/bin/bash
# testssl.sh looks at TLS in tunnels that Larder intercepts, with a certificate for a name and with one for an address.
set -euo pipefail
for program in testssl openssl python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/testssl.py"
