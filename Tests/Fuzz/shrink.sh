#!/usr/bin/env bash
# Makes the corpus of a target the fewest inputs that reach every edge that it and all that was found reach.
#
#   Tests/Fuzz/shrink.sh TARGET
#
# Inputs whose names start with `seed-` are written by hand and stay.
set -euo pipefail

target=${1:?a target: see Tests/Fuzz/Corpus}
root=$(cd "$(dirname "$0")/../.." && pwd)
corpus=$root/Tests/Fuzz/Corpus/$target
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
cp "$corpus"/seed-* "$fresh"
LARDER_FUZZ_TARGET=$target "${LARDER_FUZZ:-$root/.build/fuzz}/larder-fuzz" -set_cover_merge=1 -use_counters=0 "$fresh" "$corpus" \
    "$root/.build/fuzz/found/$target"
find "$corpus" -type f ! -name 'seed-*' -delete
cp -n "$fresh"/* "$corpus"
ls "$corpus" | wc -l
