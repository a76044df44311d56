#!/bin/bash
# 1,000 rounds of store, purge and ask on 4 loops, hard and soft, in memory and on the disk (PurgeTests, debug build).
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_PURGE_ROUNDS=1000 swift test --filter EndToEndTests.PurgeTests
