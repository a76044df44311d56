#!/bin/bash
# Two `larder run` at once beside a `larder serve` that has the store of all three: each works, over https, by interception. And `keytool`
# counts in the trust store that `run` makes for Java what Java is to believe.
set -euo pipefail
for program in openssl python3 curl; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/run_beside.py"
