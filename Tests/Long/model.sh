#!/bin/bash
# 1,000,000 exchanges beside a plain reading of RFC 9111 (CacheModelTests). A failing seed is named; LARDER_MODEL_SEED=N runs it alone.
# In the debug build, which is there after `make test`: a release build of every test takes longer than it would save.
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_MODEL_SEEDS=20000 swift test --filter CacheModelTests
