#!/bin/bash
# 1,000 requests wait for an approver: each is allowed, denied or timed out exactly once, also if two approvers answer it at the same time. A
# restart denies all requests that wait, each with a line in the audit log.
set -euo pipefail
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/approvals.py"
