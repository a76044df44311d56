#!/bin/bash
# Sees to it that what Larder is built with is here. Installs what is missing on Debian and Ubuntu, and nothing when
# nothing is missing; elsewhere says what is missing, and stops. With --test, also the programs that the tests run.
set -euo pipefail

# pkg-config's name, Debian's package.
libraries=(
    "libcurl libcurl4-openssl-dev"
    "sqlite3 libsqlite3-dev"
    "zlib zlib1g-dev"
    "libbrotlidec libbrotli-dev"
    "libzstd libzstd-dev"
    "libpsl libpsl-dev"
    "libnghttp2 libnghttp2-dev"
    "libxml-2.0 libxml2-dev"
    "libxxhash libxxhash-dev"
    "libssl libssl-dev"
    "libcrypt libcrypt-dev"
)
# A test's program, Debian's package.
programs=("python3 python3" "curl curl" "openssl openssl" "codespell codespell" "aspell aspell" "redis-server redis-server")
oldest_swift="6.2"

missing_packages=()
missing_names=()
if command -v pkg-config > /dev/null; then
    for library in "${libraries[@]}"; do
        read -r name package <<< "$library"
        pkg-config --exists "$name" || { missing_names+=("$name"); missing_packages+=("$package"); }
    done
else
    missing_names+=("pkg-config")
    missing_packages+=("pkg-config")
    for library in "${libraries[@]}"; do missing_packages+=("${library#* }"); done
fi
if [[ ${1:-} == --test ]]; then
    for program in "${programs[@]}"; do
        read -r name package <<< "$program"
        command -v "$name" > /dev/null || { missing_names+=("$name"); missing_packages+=("$package"); }
    done
    if [[ $(aspell dicts 2> /dev/null || true) != *en_US* ]]; then
        missing_names+=("aspell's en_US")
        missing_packages+=("aspell-en")
    fi
fi

if ((${#missing_packages[@]})); then
    if ! command -v apt-get > /dev/null; then
        echo "Missing: ${missing_names[*]}. Install them with their headers, by your system's package manager." >&2
        exit 1
    fi
    privileges=()
    if [[ $EUID -ne 0 ]]; then
        command -v sudo > /dev/null || {
            echo "Missing: ${missing_packages[*]}. As root: apt-get install ${missing_packages[*]}" >&2
            exit 1
        }
        privileges=(sudo)
    fi
    echo "Installing ${missing_packages[*]}" >&2
    "${privileges[@]}" apt-get update -qq
    "${privileges[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing_packages[@]}"
fi

if ! command -v swift > /dev/null; then
    echo "Missing: Swift $oldest_swift or later. See https://www.swift.org/install/linux/ (swiftly installs it for one user)." >&2
    exit 1
fi
swift_version=$(swift --version 2> /dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
if [[ "$(printf '%s\n' "$oldest_swift" "$swift_version" | sort -V | head -n 1)" != "$oldest_swift" ]]; then
    echo "Swift $swift_version is too old; Larder needs $oldest_swift or later." >&2
    exit 1
fi
