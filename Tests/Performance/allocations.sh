#!/bin/bash
# Prints how often a warm hit allocates, and fails when that is above 0.
exec "$(dirname "$0")/measure.sh" allocations
