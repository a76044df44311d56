#!/usr/bin/env bash
# Builds the fuzzers: the modules that are fuzzed, instrumented for coverage, and Tests/Fuzz/Targets.
#
#   Tests/Fuzz/build.sh [FOLDER]     FOLDER holds two programs afterwards (default .build/fuzz):
#     larder-fuzz       for many inputs: the checks that debug builds make, coverage of the modules alone
#     larder-fuzz-asan  the same and AddressSanitizer, with comparisons traced: a tenth as fast
#
# LarderSettings, which reads settings, needs the pure modules, ServerTrust, SignedEntries, TLSChannel, CertificateAuthority,
# ClientPasswords, EventLoop, UpstreamTransport, PolicyTools, CommandSupport and LocalCA. Tests/ArchitectureTests compares its imports.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.build/fuzz}
mkdir -p "$out"
out=$(cd "$out" && pwd)
# The package's own copies of what the modules use.
yams=$root/.build/checkouts/Yams/Sources
structured=$root/.build/checkouts/swift-http-structured-headers/Sources
[[ -d $yams && -d $structured ]] || swift package --package-path "$root" resolve

# -O as in the release, with -assert-config Debug.
flags=(-O -wmo -g -swift-version 6 -parse-as-library -package-name larder -enable-experimental-feature Lifetimes
    -assert-config Debug -I "$yams/CYaml/include" -I /usr/include/libxml2)
for shim in CLarderBrotli CLarderCrypt CLarderCurl CLarderLinux CLarderNghttp2 CLarderOpenSSL CLarderPSL CLarderXML2 CLarderZlib CLarderZstd; do flags+=(-I "$root/Sources/$shim"); done

module() { # NAME FOLDERS OPTIONS…
    local folders sources
    read -ra folders <<< "$2"
    mapfile -t sources < <(find "${folders[@]/#/$root/}" -name '*.swift' | sort)
    swiftc "${flags[@]}" "${@:3}" -I . -module-name "$1" -emit-module -emit-module-path "$1.swiftmodule" -emit-object -o "$1.o" \
        "${sources[@]}"
}

program() { # NAME, options of Swift for what is covered, for what is not, of C
    local folder=$out/$1.objects covered uncovered c
    read -ra covered <<< "$2"
    read -ra uncovered <<< "$3"
    read -ra c <<< "$4"
    mkdir -p "$folder"
    cd "$folder"
    for source in "$yams"/CYaml/src/*.c; do
        clang -O1 -g -DYAML_DECLARE_STATIC "${c[@]}" -I "$yams/CYaml/include" -c "$source" -o "$(basename "$source").o"
    done
    module HTTPMessage Sources/HTTPMessage "${covered[@]}"
    module TextCoding Sources/TextCoding "${uncovered[@]}"
    module HTTPWire Sources/HTTPWire "${covered[@]}"
    module HTTP2Wire Sources/HTTP2Wire "${covered[@]}"
    module WebSocketWire Sources/WebSocketWire "${covered[@]}"
    module RESPWire Sources/RESPWire "${covered[@]}"
    module RawStructuredFieldValues "${structured#"$root/"}/RawStructuredFieldValues" "${uncovered[@]}"
    module HTTPCaching Sources/HTTPCaching "${covered[@]}"
    module ServerTrust Sources/ServerTrust "${covered[@]}"
    module SignedEntries Sources/SignedEntries "${covered[@]}"
    module TLSChannel Sources/TLSChannel "${uncovered[@]}"
    module CertificateAuthority Sources/CertificateAuthority "${uncovered[@]}"
    module ClientPasswords Sources/ClientPasswords "${covered[@]}"
    module ProxyPolicy Sources/ProxyPolicy "${covered[@]}"
    module PolicyTools Sources/PolicyTools "${covered[@]}"
    module HTTPSerialization Sources/HTTPSerialization "${covered[@]}"
    module EventLoop Sources/EventLoop "${uncovered[@]}"
    module ParentSelection Sources/ParentSelection "${covered[@]}"
    module UpstreamTransport Sources/UpstreamTransport "${covered[@]}"
    module Reachability Sources/Reachability "${uncovered[@]}"
    module LarderHTTP Sources/LarderHTTP "${covered[@]}"
    module Yams "${yams#"$root/"}/Yams" "${uncovered[@]}" -swift-version 5 -DSWIFT_PACKAGE
    module CommandSupport Sources/CommandSupport "${covered[@]}"
    module LocalCA Sources/LocalCA "${covered[@]}"
    module LarderSettings Sources/LarderSettings "${covered[@]}"
    module FuzzTargets Tests/Fuzz/Targets "${uncovered[@]}"
    swiftc "${flags[@]}" "${covered[@]}" -I . -module-name FuzzEntry "$root"/Tests/Fuzz/Entry/*.swift ./*.o -o "../$1" \
        2> >(grep -v 'Cannot export local symbol' >&2)
    echo "$out/$1"
}

program larder-fuzz "-sanitize=fuzzer -sanitize-coverage=edge,inline-8bit-counters,pc-table" "" \
    "-fsanitize-coverage=edge,inline-8bit-counters,pc-table"
program larder-fuzz-asan "-sanitize=fuzzer,address" "-sanitize=address" "-fsanitize=fuzzer-no-link,address"
