#!/bin/bash
# What TLS upstream costs the release binary: tls.sh [first] [policies] [probe]. A first connection beside bare clients of OpenSSL's and of
# libcurl's, and a kept one beside plain HTTP; a thousand hosts' policies beside one; CONNECT with a probe beside a tunnel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
LARDER=${LARDER:-$(swift build -c release --static-swift-stdlib --show-bin-path)/larder}
WORK=$(mktemp -d)
export LARDER WORK
trap 'rm -rf "$WORK"' EXIT
"${CC:-cc}" -O2 -o "$WORK/tls-floor" "$here/tls-floor.c" -lssl -lcrypto
"${CC:-cc}" -O2 -o "$WORK/tls-curl" "$here/tls-curl.c" -lcurl -lssl -lcrypto
"${CC:-cc}" -O2 -D_GNU_SOURCE -o "$WORK/asker" "$here/asker.c"
PYTHONPATH=Tests python3 -B "$here/tls.py" "$@"
