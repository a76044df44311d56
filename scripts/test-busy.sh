#!/bin/bash
# Runs the built suite again and again on a machine that is more or less busy. No test may depend on that.
#
#   scripts/test-busy.sh [KIND[=TIMES] ...]      default: idle=3 busy=5 core=1 nice=1
#
#   idle   nothing beside it
#   busy   two endless loops beside it
#   core   on one core (taskset)
#   nice   with the lowest priority (nice -n 19)
#
# Prints a line for each run, and the failures of all of them at the end. Build first: swift build --build-tests
set -euo pipefail
cd "$(dirname "$0")/.."

logs=$(swift build --show-bin-path)/test-busy
rm -rf "$logs"
mkdir -p "$logs"
loops=()
end_loops() {
    local loop
    for loop in ${loops+"${loops[@]}"}; do kill "$loop" 2> /dev/null || true; done
    loops=()
}
begin_loops() {
    local number
    for number in 1 2; do
        (while :; do :; done) &
        loops+=($!)
    done
}
trap end_loops EXIT
trap 'exit 130' INT TERM

# Of the tests, of lanes that did not end, and of the documentation's blocks.
failures() {
    local tests pages
    tests=$(grep -c '^✘ .*\(recorded an issue\|hung,\|ended early,\)' "$1" || true)
    pages=$(sed -nE 's/^✘ Documentation: .* ([0-9]+) failures, .*/\1/p' "$1" | head -n 1)
    echo $((tests + ${pages:-0}))
}

runs=0 failed=()
run() {
    local kind=$1 number=$2 name=$1-$2 code=0 began=$SECONDS
    shift 2
    "$@" scripts/test.sh --skip-build --logs "$logs/$name" > "$logs/$name.txt" 2>&1 || code=$?
    end_loops
    runs=$((runs + 1))
    local last
    last=$(tail -n 1 "$logs/$name.txt")
    printf '%-5s %d   %4d s   %s tests   %s failures\n' "$kind" "$number" $((SECONDS - began)) \
        "$(sed -nE 's/.* with ([0-9]+) tests.*/\1/p' <<< "$last")" "$(failures "$logs/$name.txt")"
    if ((code)); then failed+=("$name"); fi
}

(($#)) || set -- idle=3 busy=5 core=1 nice=1
for argument in "$@"; do
    kind=${argument%%=*}
    times=1
    [[ $argument == *=* ]] && times=${argument#*=}
    for ((number = 1; number <= times; number++)); do
        case $kind in
            idle) run idle "$number" ;;
            busy) begin_loops; run busy "$number" ;;
            core) run core "$number" taskset -c 0 ;;
            nice) run nice "$number" nice -n 19 ;;
            *) echo "test-busy.sh: no such kind: $kind (idle, busy, core, nice)" >&2; exit 2 ;;
        esac
    done
done

if ((${#failed[@]})); then
    for name in "${failed[@]}"; do
        printf '\n== %s\n' "$name"
        sed -n '/^== Failures/,$p' "$logs/$name.txt"
    done
fi
printf '%d runs, %d failed\n' "$runs" "${#failed[@]}"
((${#failed[@]} == 0))
