#!/bin/bash
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/full_disk.py"
