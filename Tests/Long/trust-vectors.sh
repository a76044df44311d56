#!/bin/bash
# Two other evaluators about each of the trust vectors that they can express: Python's cryptography, and `openssl verify`.
set -euo pipefail
cd "$(dirname "$0")/../TrustVectors"
python="${WORK:-$(mktemp -d)}/python"
python3 -m venv "$python"
"$python/bin/pip" install -q 'cryptography>=48'
PYTHONDONTWRITEBYTECODE=1 "$python/bin/python" agree.py
