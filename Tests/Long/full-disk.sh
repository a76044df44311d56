#!/bin/bash
exec python3 "$(dirname "$0")/full_disk.py"
