#!/bin/bash
exec python3 -B "$(dirname "$0")/large_bodies.py"
