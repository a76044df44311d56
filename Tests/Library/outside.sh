#!/bin/bash
# An app's first build: a package outside this checkout, with an empty module cache, that imports Foundation beside our libraries.
#
#   Tests/Library/outside.sh [debug] [release]      both where none is named
#
# A debug build compiles Foundation's modules and ours into one fresh module cache, so that C headers that clash are found; the checkout's own
# builds find those modules cached. Each program is run as well. The release build leaves LarderHTTP out: the module cache is what
# differs, and HTTPSerialization alone imports the C libraries that clash.
#
# The packages disable the trait CommandLine. The script fails if they fetch more than the one package that the libraries need.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An app does not make our warnings its errors.
unset LARDER_WARNINGS
export SWIFTPM_MODULECACHE_OVERRIDE=$work/modules CLANG_MODULE_CACHE_PATH=$work/clang

# $1: the folder's name; the rest: the libraries that the program imports. Standard input: its lines.
make_package() {
    local folder=$work/$1 library
    shift
    mkdir -p "$folder/Sources/App"
    {
        echo '// swift-tools-version: 6.2'
        echo 'import PackageDescription'
        echo "let package = Package(name: \"app\", dependencies: [.package(name: \"larder\", path: \"$root\", traits: [])], targets: ["
        echo '    .executableTarget(name: "App", dependencies: ['
        for library in "$@"; do echo "        .product(name: \"$library\", package: \"larder\"),"; done
        echo '    ])'
        echo '])'
    } > "$folder/Package.swift"
    {
        echo 'import Foundation'
        for library in "$@"; do echo "import $library"; done
        cat
    } > "$folder/Sources/App/main.swift"
    if [[ -f $root/Package.resolved ]]; then cp "$root/Package.resolved" "$folder"; fi
}

# $1: the folder's name; $2: the configuration; $3: what the program prints.
build_and_run() {
    local began=$SECONDS printed
    swift build --package-path "$work/$1" -c "$2" -Xswiftc -module-cache-path -Xswiftc "$work/modules-$2" > "$work/log" 2>&1 || {
        grep -E 'error|different definitions' "$work/log" >&2 || tail -20 "$work/log" >&2
        echo "FAILED  an outside package does not build in $2 with an empty module cache" >&2
        exit 1
    }
    local fetched
    fetched=$(ls "$work/$1/.build/checkouts")
    if [[ $fetched != swift-http-structured-headers ]]; then
        echo "FAILED  the outside package fetches" $fetched "and not swift-http-structured-headers alone" >&2
        exit 1
    fi
    printed=$(swift run --package-path "$work/$1" -c "$2" --skip-build App 2>> "$work/log")
    if [[ $printed != "$3" ]]; then
        echo "FAILED  the outside package prints '$printed' in $2, not '$3'" >&2
        exit 1
    fi
    # The program ends at once, while the thread of its session still starts. Such an exit must not crash.
    local app run
    app=$(swift build --package-path "$work/$1" -c "$2" --show-bin-path)/App
    for ((run = 1; run <= 300; run++)); do
        "$app" > /dev/null || {
            echo "FAILED  the outside package ends with code $? in $2, in run $run of 300" >&2
            exit 1
        }
    done
    echo "ok      an outside package builds in $2 with an empty module cache, and runs 300 times ($((SECONDS - began)) s)"
}

kinds=("$@")
if ((${#kinds[@]} == 0)); then kinds=(debug release); fi
for kind in "${kinds[@]}"; do
    case $kind in
        debug)
            make_package session LarderHTTP HTTPSerialization LarderFoundation LarderTesting <<'END'
let session = try HTTPSession(trust: .system)
let data = Data("{\"a\": 1}".utf8)
let value = try JSONValueSerializer().serialize(ReceivedHead(status: 200, contentType: "application/json"), [UInt8](data)).get()
let network = ScriptedNetwork()
network.on(.get, "/dates", reply: .json("[\"1970-01-01T00:00:01Z\"]").delayed(by: .seconds(30)))
guard let url = URL(string: "https://api.example/dates") else { fatalError("no URL") }
let dates = try await HTTPSession(network).get(url, as: [Date].self, coding: .snakeCase)
try network.check()
print("\(value)", session.transfers().count, dates[0].timeIntervalSince1970)
END
            build_and_run session debug '{"a":1} 0 1.0'
            ;;
        release)
            make_package serialization HTTPSerialization <<'END'
let data = Data("{\"a\": 1}".utf8)
let value = try JSONValueSerializer().serialize(ReceivedHead(status: 200, contentType: "application/json"), [UInt8](data)).get()
print("\(value)")
END
            build_and_run serialization release '{"a":1}'
            ;;
        *)
            echo "outside.sh: '$kind' is neither debug nor release" >&2
            exit 2
            ;;
    esac
done
