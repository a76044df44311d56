#!/usr/bin/env bash
# Gives a target inputs until it breaks its word, or until it has had enough.
#
#   Tests/Fuzz/run.sh TARGET RUNS [libFuzzer options…]
#
# Starts from Tests/Fuzz/Corpus/TARGET; what it finds that covers something new is kept in .build/fuzz/found/TARGET.
# An input that breaks the target is kept there as crash-…, timeout-… or oom-…. What was found is given to the build with
# AddressSanitizer afterwards.
set -euo pipefail

target=${1:?a target: see Tests/Fuzz/Corpus}
runs=${2:?how many inputs}
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
corpus=$root/Tests/Fuzz/Corpus/$target
programs=${LARDER_FUZZ:-$root/.build/fuzz}
found=$root/.build/fuzz/found/$target
[[ -d $corpus ]] || { echo "no corpus for $target" >&2; exit 2; }
[[ -x $programs/larder-fuzz-asan ]] || "$root/Tests/Fuzz/build.sh" >&2
mkdir -p "$found"

export LARDER_FUZZ_TARGET=$target
# Swift's own handler would take the signal, and libFuzzer would not keep the input.
export SWIFT_BACKTRACE=enable=no
# Where a block was allocated is not worth half the time.
export ASAN_OPTIONS=malloc_context_size=0:detect_leaks=0
# A chain of certificates is longer than what the other targets have to do with.
length=600
[[ $target == Certificates ]] && length=4096
options=(-max_len=$length -timeout=10 -rss_limit_mb=1024 -artifact_prefix="$found/" -print_final_stats=1)
[[ -f $root/Tests/Fuzz/Dictionary/$target.txt ]] && options+=(-dict="$root/Tests/Fuzz/Dictionary/$target.txt")
"$programs/larder-fuzz" -runs="$runs" "${options[@]}" "$@" "$found" "$corpus"
"$programs/larder-fuzz-asan" -runs=0 "${options[@]}" "$found" "$corpus"
