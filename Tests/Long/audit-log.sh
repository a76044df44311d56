#!/bin/bash
# The audit log with 1,000,000 lines: 1,000 damages are found, also a cut at the end; after a kill, verify names the lines in doubt; a full
# disk loses events, which are counted, and no request.
set -euo pipefail
if ! command -v h2load > /dev/null; then
    echo "left out: it needs h2load (Debian: nghttp2-client)"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/audit-log.py"
