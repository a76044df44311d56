#!/bin/bash
# Has everything that Larder generates looked at by httplint, redbot and http-sfv, which are installed from PyPI into .build/lint.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1

if [[ ! -x .build/lint/bin/redbot ]]; then
    python3 -m venv .build/lint
    .build/lint/bin/pip install -q redbot httplint http-sfv
fi
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}

# Every member that there can be, as a test writes them.
members=$(mktemp)
trap 'rm -f "$members"' EXIT
LARDER_STATUS_FIELDS=$members "$(swift build --show-bin-path)/larderPackageTests.xctest" --testing-library swift-testing \
    --filter StatusFieldsTests > /dev/null
PYTHONPATH=Tests .build/lint/bin/python -B Tests/Lint/lint.py --larder "$LARDER" --members "$members"
