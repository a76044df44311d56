#!/bin/bash
# What takes longer than `make test` may: every executable script in Tests/Long, one after the other, on the release binary.
# Each gets the binary's path in LARDER and a folder of its own, removed afterwards, in WORK.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build -c release --static-swift-stdlib --omit-frame-pointers --product larder
LARDER=$(swift build -c release --static-swift-stdlib --show-bin-path)/larder
export LARDER

failed=()
trap 'rm -rf "${WORK:-}"' EXIT
shopt -s nullglob
for script in Tests/Long/*.sh; do
    WORK=$(mktemp -d)
    export WORK
    echo "== $script"
    began=$SECONDS
    "$script" || failed+=("$script")
    echo "== $((SECONDS - began)) s"
    rm -rf "$WORK"
done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
