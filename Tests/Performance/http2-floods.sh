#!/bin/bash
# What floods in HTTP/2 cost the release binary, and its other clients meanwhile: http2-floods.sh [SECONDS OF EACH FLOOD]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
WORK=$(mktemp -d)
export LARDER WORK
trap 'rm -rf "$WORK"' EXIT
"${CC:-cc}" -O2 -o "$WORK/load" "$here/../Long/load.c" -lpthread
PYTHONPATH=Tests python3 -B "$here/http2-floods.py" "$@"
