#!/bin/bash
# Flips one bit anywhere in a store's file, 1,000 seeded times (or as many as the first argument says): a wrong byte is never served, nothing
# crashes, and the service goes on.
set -euo pipefail
LARDER_FLIPS=${1:-1000} swift test -c release -Xswiftc -enable-testing --filter 'StoreFileTests/survivesFlippedBytes'
