#!/bin/bash
# 10,000 pairs of requests that differ in one thing (SharedPairsTests). A failing seed is named; LARDER_PAIRS_SEED=N runs it alone.
set -euo pipefail
export LARDER_PAIRS_SEEDS=40
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter SharedPairsTests
