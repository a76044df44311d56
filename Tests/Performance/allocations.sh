#!/bin/bash
# Prints how often a warm hit allocates, with default settings and with a pin in them, and fails when that is above 0.
exec "$(dirname "$0")/measure.sh" allocations
