#!/bin/bash
# nginx, Apache and `openssl s_server` as origins that are to be believed and that are not, and one that asks for a certificate.
set -euo pipefail
for program in nginx apache2 openssl; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
cd "$(dirname "$0")"
python="$WORK/python"
python3 -m venv "$python"
"$python/bin/pip" install -q 'cryptography>=48'
PYTHONPATH=..:../TrustVectors "$python/bin/python" -B real_tls.py
