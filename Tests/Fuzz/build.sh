#!/usr/bin/env bash
# Builds the fuzzer: the pure rooms and Tests/Fuzz/Targets, instrumented for coverage and with AddressSanitizer.
#
#   Tests/Fuzz/build.sh [FOLDER]     FOLDER holds the program `larder-fuzz` afterwards (default .build/fuzz)
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.build/fuzz}
mkdir -p "$out"
cd "$out"

# -O as in the release, with the checks that debug builds make (-assert-config Debug).
flags=(-O -wmo -g -swift-version 6 -parse-as-library -package-name larder -enable-experimental-feature Lifetimes
    -sanitize=fuzzer,address -assert-config Debug -I "$out")

module() { # NAME FOLDER
    local sources
    mapfile -t sources < <(find "$root/$2" -name '*.swift' | sort)
    swiftc "${flags[@]}" -module-name "$1" -emit-module -emit-module-path "$1.swiftmodule" -emit-object -o "$1.o" "${sources[@]}"
}

module HTTPMessage Sources/HTTPMessage
module HTTPWire Sources/HTTPWire
module HTTPCaching Sources/HTTPCaching
module ProxyPolicy Sources/ProxyPolicy
module FuzzTargets Tests/Fuzz/Targets

swiftc "${flags[@]}" -module-name FuzzEntry "$root"/Tests/Fuzz/Entry/*.swift \
    HTTPMessage.o HTTPWire.o HTTPCaching.o ProxyPolicy.o FuzzTargets.o -o larder-fuzz
echo "$out/larder-fuzz"
