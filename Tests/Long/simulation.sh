#!/bin/bash
# 500,000 simulated exchanges (SimulationTests). A failing seed is named; LARDER_SIMULATION_SEED=N runs it alone, with its steps.
# In the debug build, which is there after `make test`: a release build of every test takes longer than it would save.
set -euo pipefail
cd "$(dirname "$0")/../.."
LARDER_SIMULATION_SEEDS=2500 swift test --filter SimulationTests
