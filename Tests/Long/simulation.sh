#!/bin/bash
# 500,000 simulated exchanges (SimulationTests). A failing seed is named; LARDER_SIMULATION_SEED=N runs it alone, with its steps.
set -euo pipefail
export LARDER_SIMULATION_SEEDS=2500
exec "$(dirname "$0")/../../scripts/test-optimised.sh" --filter SimulationTests
