#!/bin/bash
exec python3 "$(dirname "$0")/paused_listing.py"
