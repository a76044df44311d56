#!/bin/bash
# Prometheus scrapes a Larder that serves clients: its numbers are those of the access log. promtool accepts the alert rules and the metrics,
# and the alert rules and the dashboard name no metric and no label that Larder does not have.
set -euo pipefail
for program in prometheus promtool curl; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program (Debian: prometheus)"
        exit 0
    fi
done
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/prometheus.py"
