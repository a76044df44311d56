#!/bin/bash
exec python3 "$(dirname "$0")/large_bodies.py"
