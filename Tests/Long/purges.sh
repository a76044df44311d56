#!/bin/bash
# 1,000 rounds of store, purge and ask on 4 loops, hard and soft, in memory and on the disk (PurgeTests).
set -euo pipefail
export LARDER_PURGE_ROUNDS=1000
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter EndToEndTests.PurgeTests
