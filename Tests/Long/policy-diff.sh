#!/bin/bash
# `larder policy diff` beside brute force: 200 seeded pairs of policies, 1,000,000 URLs for each (PolicyComparisonTests). A failing seed is
# named; LARDER_POLICY_SEED=N runs it alone.
set -euo pipefail
export LARDER_POLICY_PAIRS=200 LARDER_POLICY_URLS=1000000
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter PolicyComparisonTests
