#!/bin/bash
# 1,000,000 exchanges beside a plain reading of RFC 9111 (CacheModelTests). A failing seed is named; LARDER_MODEL_SEED=N runs it alone.
set -euo pipefail
export LARDER_MODEL_SEEDS=20000
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter CacheModelTests
