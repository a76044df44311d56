#!/usr/bin/env bash
# Gives a target inputs until it breaks its word, or until it has had enough.
#
#   Tests/Fuzz/run.sh TARGET RUNS [libFuzzer options…]
#
# Starts from Tests/Fuzz/Corpus/TARGET; what it finds that covers something new is kept in .build/fuzz/found/TARGET.
# An input that breaks the target is kept there as crash-…, timeout-… or oom-….
set -euo pipefail

target=${1:?a target: see Tests/Fuzz/Corpus}
runs=${2:?how many inputs}
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
corpus=$root/Tests/Fuzz/Corpus/$target
program=${LARDER_FUZZ:-$root/.build/fuzz/larder-fuzz}
found=$root/.build/fuzz/found/$target
[[ -d $corpus ]] || { echo "no corpus for $target" >&2; exit 2; }
[[ -x $program ]] || "$root/Tests/Fuzz/build.sh" >&2
mkdir -p "$found"

dictionary=()
[[ -f $root/Tests/Fuzz/Dictionary/$target.txt ]] && dictionary=(-dict="$root/Tests/Fuzz/Dictionary/$target.txt")
LARDER_FUZZ_TARGET=$target exec "$program" -runs="$runs" -max_len=600 -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$found/" -print_final_stats=1 "${dictionary[@]}" "$@" "$found" "$corpus"
