#!/bin/bash
# Runs the stories of the page in Chromium.
#
#   Tests/Page/run.sh [--install] [arguments of run.py]
#
# --install installs what is missing from Debian and PyPI first. What is missing without it is named, and the stories are skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment=${PAGE_ENVIRONMENT:-.build/page-venv}

if [[ ${1:-} == --install ]]; then
    shift
    if ! command -v chromium > /dev/null; then
        if command -v apt-get > /dev/null && [[ $EUID -eq 0 ]]; then
            apt-get update -qq
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null
        else
            echo "cannot install here: chromium" >&2
        fi
    fi
    [[ -x $environment/bin/python3 ]] || python3 -m venv "$environment"
    "$environment/bin/python3" -c 'import playwright, axe_playwright_python' 2> /dev/null \
        || "$environment/bin/python3" -m pip install -q playwright==1.65.2 axe-playwright-python==0.1.8
fi
python=$environment/bin/python3
[[ -x $python ]] || python=python3
exec "$python" -B Tests/Page/run.py "$@"
