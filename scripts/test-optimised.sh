#!/bin/bash
# `swift test` with the options given, optimised as the release is but with all assertions, in a build folder of its own: what a debug
# build takes an hour for takes minutes, and what it does right an optimiser may still get wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
exec swift test -Xswiftc -O --scratch-path .build-optimised "$@"
