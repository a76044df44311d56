#!/bin/bash
# Runs the client matrix against the release binary. Installs what it needs from Debian where that is possible; clients that are
# not there are skipped, apart from the ones that every system can have.
set -euo pipefail
cd "$(dirname "$0")/../.."

if command -v apt-get > /dev/null && [[ $EUID -eq 0 ]]; then
    packages=()
    for pair in nginx:nginx-light curl:curl wget:wget aria2c:aria2 git:git apt-ftparchive:apt-utils dpkg-deb:dpkg openssl:openssl; do
        command -v "${pair%%:*}" > /dev/null || packages+=("${pair#*:}")
    done
    if ((${#packages[@]})); then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
    fi
    python3 -c 'import requests, aiohttp' 2> /dev/null || python3 -m pip install -q --root-user-action=ignore requests aiohttp || true
fi
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
exec python3 Tests/Clients/clients.py --larder "$LARDER" --require curl,wget,git,pip "$@"
