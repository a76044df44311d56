#!/bin/bash
# Programs without proxies through `larder run --netns --policy`, as root and as an ordinary user: a static Go program, Java and Node by no
# options of proxies, and curl without any variable. They work where a rule allows the host, intercepted and in tunnels, and reach nothing
# elsewhere. A link with the default route counts what leaves. What is not installed is named.
set -euo pipefail
for program in ip python3 openssl curl setpriv; do
    if ! command -v "$program" > /dev/null; then
        echo "left out: it needs $program"
        exit 0
    fi
done
if ! unshare -n true 2> /dev/null || [ "$(id -u)" != 0 ]; then
    echo "left out: it needs root and network namespaces"
    exit 0
fi
PYTHONPATH=$(dirname "$0")/.. exec unshare --net python3 -B "$(dirname "$0")/run_netns.py" "$@"
