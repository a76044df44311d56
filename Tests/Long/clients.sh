#!/bin/bash
exec "$(dirname "$0")/../Clients/run.sh"
