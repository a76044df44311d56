#!/bin/bash
exec "$(dirname "$0")/../Lint/run.sh"
