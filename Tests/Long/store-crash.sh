#!/bin/bash
# Kills a storing process at a random moment, 50 times (or as many as the first argument says): the store opens, what was handed over more
# than a second before is there, and no body has a wrong byte.
set -euo pipefail
rounds=${1:-50}
swift build -c release --static-swift-stdlib --omit-frame-pointers --product StoreTorture
torture=$(swift build -c release --static-swift-stdlib --show-bin-path)/StoreTorture
failed=0
folder=$(mktemp -d -p "${WORK:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$folder"' EXIT
for ((round = 1; round <= rounds; round++)); do
    rm -f "$folder/said"
    # Each line with the time at which it was seen.
    "$torture" write "$folder/store.db" > >(while read -r line; do echo "$EPOCHREALTIME $line"; done > "$folder/said") &
    writer=$!
    # It first looks for where the last one was killed.
    until [[ -s $folder/said ]]; do sleep 0.05; done
    sleep "$((RANDOM % 2 + 1)).$((RANDOM % 10))"
    kill -9 "$writer"
    now=$EPOCHREALTIME
    wait "$writer" 2> /dev/null || true
    sleep 0.2
    last=$(awk -v now="$now" '$1 <= now - 1 && $2 ~ /^[0-9]+$/ { last = $2 } END { print last == "" ? -1 : last }' "$folder/said")
    said=$("$torture" verify "$folder/store.db" "$last") || failed=$((failed + 1))
    echo "round $round: $said"
    ((round % 10)) || rm -f "$folder"/store.db*
done
echo "$rounds kills: in $failed of them something was missing or wrong"
((failed == 0))
