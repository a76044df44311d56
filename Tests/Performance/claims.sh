#!/bin/bash
# The claims on time that scripts of Tests/Long print as met or MISSED, each beside a floor or a peer in the same run. Here one that is
# missed makes the script fail: run it on a machine that does nothing else. LARDER is a release binary.
#
#   Tests/Performance/claims.sh [SCRIPT...]     default: connections handshakes transforms fetch
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ -z ${LARDER:-} ]]; then
    make release > /dev/null
    LARDER=$(swift build -c release --static-swift-stdlib --show-bin-path)/larder
fi
export LARDER CLAIMS=1
(($#)) || set -- connections handshakes transforms fetch

failed=()
trap 'rm -rf "${WORK:-}"' EXIT
for script in "$@"; do
    WORK=$(mktemp -d)
    export WORK
    echo "== $script"
    "Tests/Long/$script.sh" || failed+=("$script")
    rm -rf "$WORK"
done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
