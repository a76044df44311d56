#!/bin/bash
exec python3 -B "$(dirname "$0")/paused_listing.py"
