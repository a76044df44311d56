#!/bin/bash
# Builds and runs every test, those of the documentation too: `make test`.
#
#   scripts/test.sh [--skip-build] [--logs FOLDER] [OPTION OF swift build ...]
#
# The suite runs in lanes. A lane is one process that runs the tests of one target, or of some suites of a large target, one after the
# other; two lanes run at a time (LARDER_TEST_LANES changes the number). So a test that blocks its thread or starts processes takes
# nothing from the others of its lane, and the time that is reported of a test is its own. A lane that fails does not stop the other
# lanes. At the end stands every failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# No wait in a test takes longer than a minute (Tests/Support/Eventually.swift). So a lane hangs if for this many seconds its log has not
# grown and its processes have used no CPU: on a busy machine a test that works may say nothing for longer. A lane that has said nothing
# for ten times as long hangs in any case.
deadline=${LARDER_TEST_DEADLINE:-90}
lanes=${LARDER_TEST_LANES:-2}
# The lanes that take longest begin first. `TARGET:N` divides the suites of a target among N lanes.
first="LarderCLITests:3 EndToEndTests:2 ArchitectureTests ResponseStoreTests SnapshotsTests HTTPSerializationTests ProxyCoreTests"

export NO_COLOR=1
builds=true
logs=
options=()
while (($#)); do
    case $1 in
        --skip-build) builds=false ;;
        --logs) logs=$2; shift ;;
        *) options+=("$1") ;;
    esac
    shift
done
if $builds; then swift build --build-tests ${options+"${options[@]}"}; fi
binary=$(swift build --show-bin-path ${options+"${options[@]}"})/larderPackageTests.xctest
logs=${logs:-$(dirname "$binary")/test-logs}
rm -rf "$logs"
mkdir -p "$logs"

# The CPU seconds that the processes of a group have used (proc(5): stat).
cpu_seconds() {
    cat /proc/[0-9]*/stat 2> /dev/null | sed 's/^.*) //' | awk -v group="$1" '$3 == group { sum += $12 + $13 } END { print int(sum / 100) }'
}

# Ends a lane that hangs, and notes in which test.
watch() {
    local target=$1 process=$2 grown used=0 worked now
    worked=$(date +%s)
    while sleep 5; do
        now=$(date +%s)
        grown=$(stat -c %Y "$logs/$target.log")
        if (($(cpu_seconds "$process") != used)); then
            used=$(cpu_seconds "$process") worked=$now
        fi
        if (((now - grown > deadline && now - worked > deadline) || now - grown > 10 * deadline)); then
            grep -a '^◇ Test .* started\.$' "$logs/$target.log" | tail -n 1 > "$logs/$target.hung" || true
            kill -9 -- "-$process" || true
        fi
    done
}

# The filter of a lane: `TARGET`, or `TARGET-I/N` for every Nth suite.
filter() {
    local target=${1%-*} part=${1#*-}
    if [[ $1 != *-* ]]; then
        echo "^$target\\."
        return
    fi
    grep "^$target\\." <<< "$tests" | sed 's/^[^.]*\.//; s,/.*,,; s/(.*//' | sort -u |
        awk -v part="${part%/*}" -v parts="${part#*/}" -v target="$target" '
            NR % parts == part - 1 { names = names (names ? "|" : "") $0 }
            END { print "^" target "\\.(" names ")(/|\\(|$)" }'
}

# Runs one lane: prints its line, and leaves its log and its exit code.
run_lane() {
    local target=${1/\//-of-} filter
    filter=$(filter "$1")
    local log=$logs/$target.log code=0 process watcher
    set -m
    # A call under nohup ignores SIGHUP, and every process that a test starts would inherit that.
    env --default-signal "$binary" --testing-library swift-testing --no-parallel --filter "$filter" < /dev/null > "$log" 2>&1 &
    process=$!
    watch "$target" "$process" &
    watcher=$!
    trap 'kill -9 -- -$process -$watcher' TERM
    wait "$process" 2> /dev/null || code=$?
    kill -9 -- "-$watcher" 2> /dev/null || true
    wait "$watcher" 2> /dev/null || true
    echo "$code" > "$logs/$target.code"
    local last
    last=$(grep -a ' Test run with ' "$log" | tail -n 1 || true)
    printf '%-24s %s\n' "$target" "${last:-✘ The lane ended early, with code $code}"
}

tests=$("$binary" --testing-library swift-testing --list-tests 2> /dev/null)
targets=$(sed 's/\..*//' <<< "$tests" | sort -u)
[[ -n $tests ]] || { echo "no tests in $binary" >&2; exit 1; }
queue=()
for entry in $first; do
    target=${entry%:*} parts=1
    [[ $entry != *:* ]] || parts=${entry#*:}
    grep -qx "$target" <<< "$targets" || continue
    if ((parts == 1)); then queue+=("$target"); continue; fi
    for ((part = 1; part <= parts; part++)); do queue+=("$target-$part/$parts"); done
done
for target in $targets; do [[ " $first " =~ \ $target[:\ ] ]] || queue+=("$target"); done

began=$SECONDS
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
trap 'exit 130' INT TERM
running=0
for lane in "${queue[@]}"; do
    if ((running == lanes)); then
        wait -n || true  # its exit code is in its file
        running=$((running - 1))
    fi
    run_lane "$lane" &
    running=$((running + 1))
done
wait

# The pages, but not by a sanitizer's build: it may be too slow for the minute that a block has.
pages=$logs/Documentation.txt
pages_code=0
if [[ -z ${options+set} ]]; then
    LARDER=$(dirname "$binary")/larder Tests/Docs/run.py > "$pages" 2>&1 || pages_code=$?
    summary=$(sed -n '/^[✔✘] Documentation: /,$p' "$pages")
    printf '%-24s %s\n' Documentation "${summary:-✘ The lane ended early, with code $pages_code}"
fi

# Every failure with all that the test said of it, and every lane that did not come to its end.
failed=false
for lane in "${queue[@]}"; do
    target=${lane/\//-of-}
    log=$logs/$target.log
    code=$(cat "$logs/$target.code" 2> /dev/null || echo "none")
    [[ $code == 0 ]] && continue
    $failed || printf '\n== Failures\n'
    failed=true
    awk '/^[◇✔✘↳]/ { shows = /^✘ Test .* recorded an issue/ || (shows && /^↳/) } shows' "$log"
    if [[ -s $logs/$target.hung ]]; then
        echo "✘ $target hung, after: $(cat "$logs/$target.hung")"
    elif ! grep -qa ' Test run with ' "$log"; then
        echo "✘ $target ended early, by code $code, after: $(grep -a '^◇ Test .* started\.$' "$log" | tail -n 1)"
        tail -n 20 "$log"
    fi
    echo "  log: $log"
done

if ((pages_code)); then
    $failed || printf '\n== Failures\n'
    failed=true
    cat "$pages"
fi

# In the words of Swift Testing's own last line.
mark=✔ word=passed
if $failed; then mark=✘ word=failed; fi
cat "$logs"/*.log | awk -v seconds=$((SECONDS - began)) -v mark=$mark -v word=$word '
    / Test run with / { for (i = 1; i < NF; i++) {
        if ($i == "with" && $(i + 2) ~ /^tests?$/) tests += $(i + 1)
        if ($i == "in" && $(i + 2) ~ /^suites?$/) suites += $(i + 1)
        if ($(i + 1) ~ /^issues?\.?$/) issues += $i } }
    END {
        printf "%s Test run with %d tests in %d suites %s after %d seconds", mark, tests, suites, word, seconds
        if (issues) printf " with %d issue%s", issues, issues == 1 ? "" : "s"
        print "." }'
! $failed
