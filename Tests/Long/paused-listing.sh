#!/bin/bash
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/paused_listing.py"
