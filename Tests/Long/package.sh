#!/bin/bash
# The Debian package in a fresh Debian 12 (debootstrap; root): apt installs it, the command of its unit runs as the unit's user with NOTIFY_SOCKET and
# LISTEN_FDS as systemd would set them, serves a hit, reloads and stops, and a purge leaves nothing behind. `lintian` and `systemd-analyze` find nothing.
set -euo pipefail
for program in debootstrap dpkg-deb dpkg-shlibdeps strip lintian systemd-analyze chroot python3; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
if [ "$(id -u)" != 0 ] || ! unshare -m true 2> /dev/null; then
    echo "left out: it needs root and mount namespaces"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec unshare --mount python3 -B "$(dirname "$0")/package.py" "$@"
