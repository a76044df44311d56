#!/bin/bash
# Clients that speak HTTP/2, and gRPC, through Larder: in intercepted tunnels, in clear inside CONNECT, on a plain listener by prior knowledge and
# on a listener with TLS. The origins speak HTTP/2 or HTTP/1.1 alone. HTTP2_PYTHON names a Python with grpcio, h2, httpx[http2] and pycurl; without
# it, pip installs them into WORK. What is not installed is named.
set -euo pipefail
if ! command -v python3 > /dev/null || ! command -v openssl > /dev/null; then
    echo "left out: it needs python3 and openssl"
    exit 0
fi
if [[ -z "${HTTP2_PYTHON:-}" ]]; then
    HTTP2_PYTHON="$WORK/venv/bin/python"
    if ! python3 -m venv "$WORK/venv" || ! "$HTTP2_PYTHON" -m pip -q --disable-pip-version-check install 'httpx[http2]' grpcio pycurl; then
        echo "left out: pip cannot install grpcio, h2, httpx and pycurl"
        exit 0
    fi
fi
PYTHONPATH=$(dirname "$0")/.. exec "$HTTP2_PYTHON" -B "$(dirname "$0")/http2_clients.py" "$@"
