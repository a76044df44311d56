#!/bin/bash
# PyPI's opentelemetry-proto reads what Larder sends to a collector, without an unknown member: the spans are those of the access log.
set -euo pipefail
python="$WORK/venv/bin/python"
if ! python3 -m venv "$WORK/venv" || ! "$python" -m pip -q --disable-pip-version-check install opentelemetry-proto; then
    echo "left out: it needs opentelemetry-proto from PyPI"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec "$python" -B "$(dirname "$0")/otlp.py"
