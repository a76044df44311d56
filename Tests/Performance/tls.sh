#!/bin/bash
# What TLS upstream costs the release binary: a first connection beside a bare client of OpenSSL's, a kept one beside plain HTTP.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
WORK=$(mktemp -d)
export LARDER WORK
trap 'rm -rf "$WORK"' EXIT
"${CC:-cc}" -O2 -o "$WORK/tls-floor" "$here/tls-floor.c" -lssl -lcrypto
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=Tests/Long python3 "$here/tls.py"
