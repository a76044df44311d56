#!/bin/bash
# Every test, in code that is optimised.
exec "$(dirname "$0")/../../scripts/test-optimised.sh"
