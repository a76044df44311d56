#!/bin/bash
# The table of cases (CacheCasesTests) with 1 loop and with 4, in memory alone and on the disk alone: the same comes of it in all four.
# In the debug build, which is there after `make test`: a release build of every test takes longer than it would save.
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_LONG=1 swift test --filter CacheCasesTests
