#!/bin/bash
# Ten thousand cancellations of a session's transfers at random moments: nothing is left of them (CancellationStormTests).
set -euo pipefail
export LARDER_SESSION_CANCELLATIONS=10000
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter CancellationStormTests
