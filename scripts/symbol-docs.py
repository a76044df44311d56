#!/usr/bin/env python3
"""Writes the symbol graphs of the library products from a debug build, says which public symbols have no sentence, and has DocC make pages.

    scripts/symbol-docs.py [FOLDER]     FOLDER (default .build/symbols) holds MODULE/MODULE.symbols.json and MODULE.doccarchive afterwards

DocC's warnings are faults. Where the toolchain has no docc, that is said, and no pages are made.

A sentence is a comment in front of the symbol, or of the requirement that it carries out. A case without values, in an enum that has its
sentence, is a word of a list, and needs none of its own.
"""
import glob, json, os, re, shutil, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What every Swift programmer knows by the protocol that it comes from.
KNOWN = {"description", "debugDescription", "customMirror", "==(_:_:)", "<(_:_:)", "hash(into:)", "makeIterator()",
         "makeAsyncIterator()", "next()", "encode(to:)", "init(from:)", "rawValue", "init(rawValue:)", "Element", "Failure", "Iterator",
         "Value", "Body", "hashValue", "id", "stringValue", "intValue", "subscript(_:)", "startIndex", "endIndex", "index(after:)"}


def libraries():
    text = open(f"{ROOT}/Package.swift").read()
    return re.findall(r'\.library\(name: "(\w+)"', text)


def extract(module, modules, folder):
    os.makedirs(folder, exist_ok=True)
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


def pages(module, symbols, archive):
    """What DocC finds wrong."""
    result = subprocess.run(
        ["docc", "convert", "--additional-symbol-graph-dir", symbols, "--output-dir", archive, "--fallback-display-name", module,
         "--fallback-bundle-identifier", f"larder.{module}", "--warnings-as-errors"], capture_output=True, text=True)
    return "" if result.returncode == 0 else f"{module}: DocC says\n{result.stdout}{result.stderr}"


def main():
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else f"{ROOT}/.build/symbols"
    os.makedirs(folder, exist_ok=True)
    modules = f"{ROOT}/.build/debug/Modules"
    missing, count, faults = [], 0, []
    has_docc = shutil.which("docc") is not None
    for module in libraries():
        graph = extract(module, modules, f"{folder}/{module}")
        if has_docc:
            faults.append(pages(module, f"{folder}/{module}", f"{folder}/{module}.doccarchive"))
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
    faults = [fault for fault in faults if fault]
    print("\n".join(faults) or ("DocC's pages: no warning" if has_docc else "no docc here: no pages were made"))
    sys.exit(bool(missing or faults))


main()
