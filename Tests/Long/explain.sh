#!/bin/bash
# What `larder explain` foretells for 10,000 random requests is what the proxy then does (ForetellingTests).
set -euo pipefail
export LARDER_LONG=1
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter ForetellingTests
