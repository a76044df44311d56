#!/bin/bash
# Fills a disk of 64 MiB (a tmpfs, which needs root): the service goes on, a warning is given, eviction makes room for new responses.
set -euo pipefail
swift build -c release --static-swift-stdlib --omit-frame-pointers --product StoreTorture
torture=$(swift build -c release --static-swift-stdlib --show-bin-path)/StoreTorture
folder=$(mktemp -d -p "${WORK:-${TMPDIR:-/tmp}}")
if ! mount -t tmpfs -o size=64m tmpfs "$folder" 2> /dev/null; then
    rmdir "$folder"
    echo "no permission to mount: not done"
    exit 0
fi
trap 'umount "$folder"; rmdir "$folder"' EXIT
"$torture" fill "$folder/store.db" 20000
