#!/bin/bash
# 10,000 pairs of requests that differ in one thing (SharedPairsTests). A failing seed is named; LARDER_PAIRS_SEED=N runs it alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_PAIRS_SEEDS=40 swift test --filter SharedPairsTests
