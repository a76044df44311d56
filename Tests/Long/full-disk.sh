#!/bin/bash
exec python3 -B "$(dirname "$0")/full_disk.py"
