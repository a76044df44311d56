#!/bin/bash
# Flips one bit anywhere in a store's file, 1,000 seeded times (or as many as the first argument says): a wrong byte is never served, nothing
# crashes, and the service goes on.
set -euo pipefail
swift build -c release --static-swift-stdlib --omit-frame-pointers --product StoreTorture
torture=$(swift build -c release --static-swift-stdlib --show-bin-path)/StoreTorture
folder=$(mktemp -d -p "${WORK:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$folder"' EXIT
"$torture" flip "$folder/store.db" 0 "${1:-1000}"
