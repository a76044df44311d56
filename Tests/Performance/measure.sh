#!/bin/bash
# What one warm hit costs the release binary: measure.sh all | allocations | instructions | replays | syscalls | tunnels | memory
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
[[ -x $LARDER ]] || { echo "no release binary at $LARDER: make release" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${CC:-cc}" -O2 -shared -fPIC -o "$work/counter.so" "$here/allocation-counter.c" -ldl
PYTHONPATH=Tests python3 -B "$here/measure.py" --larder "$LARDER" --counter "$work/counter.so" --work "$work" "${@:-all}"
