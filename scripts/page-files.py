#!/usr/bin/env python3
"""Write the files of the page into Swift sources, from which the binary serves them.

  scripts/page-files.py           write Sources/ProxyAdmin/Page/Embedded from Sources/ProxyAdmin/Page/Files
  scripts/page-files.py --check   exit with 1 if a source is not current
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
PAGE = pathlib.Path(__file__).resolve().parent.parent / "Sources/ProxyAdmin/Page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def constant(file):
    """The name of the constant: requestsView for requests-view.js."""
    first, *others = f"{file.stem}-{file.suffix[1:]}".split("-")
    return first + "".join(part.capitalize() for part in others)


def embedded():
    """The sources by path."""
    files = sorted(file for file in (PAGE / "Files").iterdir() if file.suffix in TYPES)
    sources = {}
    for file in files:
        text = file.read_text()
        if '"""#' in text or "\\#(" in text:
            sys.exit(f"{file}: a Swift literal cannot hold this text")
        path = "/" if file.name == "index.html" else f"/{file.name}"
        body = "".join(f"        {line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))
        sources[PAGE / "Embedded" / f"PageFiles+{constant(file)}.swift"] = (
            f"// swift-format-ignore-file\n// Written by scripts/page-files.py from Files/{file.name}.\n\n"
            "extension PageFiles {\n"
            f"    static let {constant(file)} = PageFile(\n"
            f'        path: "{path}", contentType: "{TYPES[file.suffix]}",\n'
            f'        text: #"""\n{body}\n        """#)\n'
            "}\n"
        )
    names = ", ".join(constant(file) for file in files)
    sources[PAGE / "Embedded" / "PageFiles+All.swift"] = (
        "// swift-format-ignore-file\n// Written by scripts/page-files.py.\n\n"
        f"extension PageFiles {{\n    static let all: [PageFile] = [\n        {names},\n    ]\n}}\n"
    )
    return sources


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="report sources that are not current")
    arguments = parser.parse_args()
    sources = embedded()
    folder = PAGE / "Embedded"
    folder.mkdir(exist_ok=True)
    surplus = [path for path in folder.iterdir() if path not in sources]
    stale = [path for path, text in sources.items() if not path.is_file() or path.read_text() != text]
    if arguments.check:
        for path in stale + surplus:
            print(f"{path.relative_to(PAGE)}: not current: run scripts/page-files.py")
        return 1 if stale + surplus else 0
    for path in surplus:
        path.unlink()
    for path in stale:
        path.write_text(sources[path])
    return 0


sys.exit(main())
