#!/bin/bash
# What HTTP/2 costs the release binary: http2.sh [hit] [miss] [idle]. A hit inside TLS beside nginx and HAProxy, a miss beside nghttpx, the memory
# of an idle connection. It needs nginx and h2load.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
WORK=$(mktemp -d)
export LARDER WORK
trap 'rm -rf "$WORK"' EXIT
PYTHONPATH=Tests python3 -B "$here/http2.py" "$@"
