#!/bin/bash
# The proof that nothing leaves: Larder and its client in a network whose link, default route and name server lead to a peer where tshark
# counts what comes. Nothing does while they replay; the same run live, and a program that ignores proxies, are seen there. strace agrees.
# With --netns that program does not leave either: as root and as an ordinary user.
set -euo pipefail
for program in ip tshark strace python3 openssl curl setpriv; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
if ! unshare -n true 2> /dev/null || [ "$(id -u)" != 0 ]; then
    echo "left out: it needs root and network namespaces"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec python3 -B "$(dirname "$0")/replay_proof.py"
