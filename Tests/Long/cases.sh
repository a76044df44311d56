#!/bin/bash
# The table of cases (CacheCasesTests) with 1 loop and with 4, in memory alone and on the disk alone: the same comes of it in all four.
set -euo pipefail
export LARDER_LONG=1
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter CacheCasesTests
