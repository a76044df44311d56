#!/bin/bash
# Runs the clients against the servers through the release binary.
#
#   Tests/Clients/run.sh [--install] [--only NAME,NAME]
#
# --install (CI) installs what is missing from Debian and PyPI first. What is not there is skipped and named, apart from what
# every system can have.
set -euo pipefail
cd "$(dirname "$0")/../.."

# A program and the package that it comes in. apache2-bin and nginx-light start no service of their own.
programs=(nginx:nginx-light apache2:apache2-bin openssl:openssl curl:curl wget:wget aria2c:aria2 git:git apt-ftparchive:apt-utils
    dpkg-deb:dpkg node:nodejs go:golang-go java:default-jdk-headless javac:default-jdk-headless)

if [[ ${1:-} == --install ]]; then
    shift
    packages=()
    for pair in "${programs[@]}"; do
        command -v "${pair%%:*}" > /dev/null || packages+=("${pair#*:}")
    done
    if ((${#packages[@]})); then
        if command -v apt-get > /dev/null && [[ $EUID -eq 0 ]]; then
            apt-get update -qq
            DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
        else
            echo "cannot install here: ${packages[*]}" >&2
        fi
    fi
    python3 -c 'import requests, aiohttp' 2> /dev/null || python3 -m pip install -q --root-user-action=ignore requests aiohttp || true
fi
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
PYTHONPATH=Tests exec python3 -B Tests/Clients/clients.py --larder "$LARDER" --require nginx,curl,wget,git,pip "$@"
