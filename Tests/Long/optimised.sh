#!/bin/bash
# The tests of the rooms that decide, in code optimised as the release is: what a debug build does right an optimiser may still get wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."
swift test -c release -Xswiftc -enable-testing \
    --filter 'HTTPMessageTests|HTTPWireTests|HTTPCachingTests|HTTPSerializationTests|ProxyPolicyTests|ServerTrustTests|CacheCases'
