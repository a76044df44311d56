#!/usr/bin/env python3
"""Writes the symbol graphs of the library products from a debug build, and says which public symbols have no sentence.

    scripts/symbol-docs.py [FOLDER]     FOLDER (default .build/symbols) holds MODULE.symbols.json afterwards, from which DocC makes pages

A sentence is a comment in front of the symbol, or of the requirement that it carries out. A case without values, in an enum that has its
sentence, is a word of a list, and needs none of its own.
"""
import glob, json, os, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What every Swift programmer knows by the protocol that it comes from.
KNOWN = {"description", "debugDescription", "customMirror", "==(_:_:)", "<(_:_:)", "hash(into:)", "makeIterator()",
         "makeAsyncIterator()", "next()", "encode(to:)", "init(from:)", "rawValue", "init(rawValue:)", "Element", "Failure", "Iterator",
         "Value", "Body", "hashValue", "id", "stringValue", "intValue", "subscript(_:)", "startIndex", "endIndex", "index(after:)"}


def libraries():
    text = open(f"{ROOT}/Package.swift").read()
    return re.findall(r'\.library\(name: "(\w+)"', text)


def extract(module, modules, folder):
    command = ["swift", "symbolgraph-extract", "-module-name", module, "-I", modules, "-I", "/usr/include/libxml2",
               "-target", f"{os.uname().machine}-unknown-linux-gnu", "-minimum-access-level", "public",
               "-skip-synthesized-members", "-output-dir", folder]
    for shim in glob.glob(f"{ROOT}/Sources/C*/module.modulemap"):
        command += ["-Xcc", f"-fmodule-map-file={shim}"]
    result = subprocess.run(command, capture_output=True, text=True)
    noise = [line for line in (result.stdout + result.stderr).splitlines() if line.strip()]
    if result.returncode != 0 or noise:
        sys.exit(f"{module}: " + "\n".join(noise) or "no symbol graph: build it first")
    return json.load(open(f"{folder}/{module}.symbols.json"))


def main():
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else f"{ROOT}/.build/symbols"
    os.makedirs(folder, exist_ok=True)
    modules = f"{ROOT}/.build/debug/Modules"
    missing, count = [], 0
    for module in libraries():
        graph = extract(module, modules, folder)
        symbols = {symbol["identifier"]["precise"]: symbol for symbol in graph["symbols"]}
        # What only carries a requirement out has its sentence there.
        carried = {relation["source"] for relation in graph["relationships"]
                   if relation["kind"] == "defaultImplementationOf" or "sourceOrigin" in relation}
        enums = {tuple(symbol["pathComponents"]) for symbol in symbols.values()
                 if symbol["kind"]["identifier"] == "swift.enum" and symbol.get("docComment")}
        for name, symbol in symbols.items():
            count += 1
            path = symbol["pathComponents"]
            if symbol.get("docComment") or path[-1] in KNOWN or name in carried:
                continue
            if symbol["kind"]["identifier"] == "swift.enum.case" and "(" not in path[-1] and tuple(path[:-1]) in enums:
                continue
            place = symbol.get("location", {})
            missing.append((place.get("uri", "").replace(f"file://{ROOT}/", ""), place.get("position", {}).get("line", 0) + 1,
                            f"{module}: {symbol['kind']['displayName']} {'.'.join(path)}"))
    for path, line, text in sorted(missing):
        print(f"{path}:{line}: {text} has no sentence")
    print(f"{count} public symbols in {len(libraries())} libraries, {len(missing)} without a sentence")
    sys.exit(bool(missing))


main()
