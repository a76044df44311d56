#!/bin/bash
# What `larder explain` foretells for 10,000 random requests is what the proxy then does (ForetellingTests, debug build).
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_LONG=1 swift test --filter ForetellingTests
