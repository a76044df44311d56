#!/usr/bin/env python3
"""Draws docs/architecture-map.svg: the modules, their layers, what they import, and their sizes.

    scripts/module-map.py            write the picture
    scripts/module-map.py --check    say what is out of date; exits with 1 if anything is

The modules are the targets of Package.swift below Sources. Their imports and sizes are read from the sources. A module's layer is one above
the highest layer that it imports. Arrows that follow from other arrows are left out of the picture, and are in its metadata.
"""
import json, os, re, sys
from html import escape

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURE = os.path.join(ROOT, "docs", "architecture-map.svg")
# Sizes may differ by a tenth, and small modules by this many lines, before the picture is out of date.
SLACK = 200

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
LETTER, SMALL_LETTER = 8.4, 6.3
BOX_HEIGHT, BETWEEN_BOXES, BETWEEN_LAYERS, MARGIN, PASSAGE = 60, 20, 56, 16, 12
IMPORT = re.compile(r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:public\s+|package\s+|internal\s+|private\s+|fileprivate\s+)?import\s+"
                    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var|actor)\s+)?(\w+)")


class Module:
    def __init__(self, name):
        self.name = name
        self.imports, self.shims = set(), set()
        self.file_count = self.line_count = 0
        self.is_library = False
        self.layer = 0


def without_comments(text):
    """Package.swift without its comments. Slashes in a string stay."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda found: found.group(1) or "", text)


def targets(text):
    """The name and the text of each target: each call in the list `targets:` that begins with a name."""
    start = text.rindex("targets: [\n")
    depth, call = 0, None
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]()]', text[start:]):
        mark = found.group(0)
        if mark in "[(":
            if depth == 1 and mark == "(":
                call = start + found.start()
            depth += 1
        elif mark in "])":
            depth -= 1
            if depth == 1 and call is not None:
                body = text[call:start + found.end()]
                name = re.search(r'\((?:\s*name:)?\s*"(\w+)"', body)
                if name:
                    word = re.search(r"[.\w]+$", text[start:call])
                    yield name.group(1), word.group(0) if word else "", body
                call = None
            if depth == 0:
                return


def read():
    """The modules by name."""
    text = without_comments(open(os.path.join(ROOT, "Package.swift"), encoding="utf-8").read())
    libraries = set(re.findall(r'\.library\(\s*name:\s*"(\w+)"', text))
    modules, shims = {}, set()
    for name, word, body in targets(text):
        folder = os.path.join(ROOT, "Sources", name)
        if word == ".systemLibrary" or re.match("C[A-Z]", name):
            shims.add(name)
        elif os.path.isdir(folder) and "path:" not in body:
            modules[name] = Module(name)
    for module in modules.values():
        module.is_library = module.name in libraries
        for folder, _, names in os.walk(os.path.join(ROOT, "Sources", module.name)):
            for name in names:
                if not name.endswith(".swift"):
                    continue
                lines = open(os.path.join(folder, name), encoding="utf-8").read().splitlines()
                module.file_count += 1
                module.line_count += len(lines)
                for line in lines:
                    found = IMPORT.match(line.strip())
                    if found and found.group(1) in modules:
                        module.imports.add(found.group(1))
                    elif found and found.group(1) in shims:
                        module.shims.add(found.group(1))
        module.imports.discard(module.name)
    settle_layers(modules)
    return modules


def settle_layers(modules):
    settled = {}

    def layer(name, above):
        if name in above:
            sys.exit(f"module-map.py: {' imports '.join(above[above.index(name):] + [name])}")
        if name not in settled:
            settled[name] = 1 + max((layer(other, above + [name]) for other in modules[name].imports), default=-1)
        return settled[name]

    for name, module in modules.items():
        module.layer = layer(name, [])


def rounded(lines):
    return max(round(lines, -2), 100) if lines >= 50 else lines


def facts(modules):
    """What the picture says, as JSON with a line for each module."""
    rows = []
    for module in sorted(modules.values(), key=lambda one: (-one.layer, one.name)):
        rows.append(json.dumps({
            "module": module.name, "layer": module.layer, "files": module.file_count, "lines": rounded(module.line_count),
            "imports": sorted(module.imports), "shims": sorted(module.shims)}))
    return rows


# The picture

def shown_arrows(modules):
    """Arrows that do not follow from others."""
    reached = {}

    def reach(name):
        if name not in reached:
            reached[name] = set(modules[name].imports).union(*[reach(other) for other in modules[name].imports])
        return reached[name]

    return [(name, other) for name in sorted(modules) for other in sorted(modules[name].imports)
            if not any(other in reach(between) for between in modules[name].imports)]


class Node:
    """A module, or the passage of an arrow through a layer on its way."""
    def __init__(self, layer, module=None):
        self.layer, self.module = layer, module
        self.above, self.below = [], []
        self.x = 0.0
        self.lines = []
        self.width = PASSAGE
        if module:
            files = f"{module.file_count} file{'s' if module.file_count != 1 else ''}"
            self.lines = [f"{files}, {rounded(module.line_count):,} lines", " ".join(sorted(module.shims))]
            letters = max(LETTER * len(module.name), *(SMALL_LETTER * len(line) for line in self.lines))
            self.width = max(96, letters + 20)


def place(nodes, wanted):
    """Places a layer's nodes as near as possible to where they are wanted, in their order and with their distances."""
    groups = []
    offset, before = 0.0, None
    for node in nodes:
        if before is not None:
            offset += (before.width + node.width) / 2 + BETWEEN_BOXES
        before = node
        weight = 1.0 if node.module else 3.0
        groups.append([wanted[node] - offset, weight, [(node, offset)]])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            position, weight, members = groups.pop()
            total = groups[-1][1] + weight
            groups[-1] = [(groups[-1][0] * groups[-1][1] + position * weight) / total, total, groups[-1][2] + members]
    for position, _, members in groups:
        for node, offset in members:
            node.x = position + offset


def crossings(layers):
    count = 0
    for layer in layers:
        place_of = {id(node): number for number, node in enumerate(layer)}
        pairs = [(place_of[id(node)], number) for number, node in enumerate(layers[layer[0].layer - 1]) for node in node.above] \
            if layer and layer[0].layer else []
        count += sum(1 for first in pairs for second in pairs if first[0] < second[0] and first[1] > second[1])
    return count


def arranged(modules):
    """The nodes by layer, and the arrows as chains of nodes."""
    layers = [[] for _ in range(1 + max(module.layer for module in modules.values()))]
    node_of = {}
    for name in sorted(modules):
        node_of[name] = Node(modules[name].layer, modules[name])
        layers[modules[name].layer].append(node_of[name])
    chains = []
    for source, target in shown_arrows(modules):
        chain = [node_of[source]]
        for layer in range(modules[source].layer - 1, modules[target].layer, -1):
            passage = Node(layer)
            layers[layer].append(passage)
            chain.append(passage)
        chain.append(node_of[target])
        for upper, lower in zip(chain, chain[1:]):
            upper.below.append(lower)
            lower.above.append(upper)
        chains.append(chain)

    # Orders each layer by its neighbors, downward and upward in turn, and keeps the order with the fewest crossings.
    best = None
    for turn in range(60):
        downward = turn % 2 == 0
        for layer in (reversed(layers) if downward else layers):
            neighbors = {id(node): node.above if downward else node.below for node in layer}
            order = {id(node): number for other in layers for number, node in enumerate(other)}

            def center(node):
                found = sorted(order[id(other)] / max(1, len(layers[other.layer]) - 1) for other in neighbors[id(node)])
                return sum(found) / len(found) if found else order[id(node)] / max(1, len(layer) - 1)

            layer.sort(key=center)
        count = crossings(layers)
        if best is None or count < best[0]:
            best = (count, [list(layer) for layer in layers])
    layers = best[1]

    for layer in layers:
        place(layer, {node: 0.0 for node in layer})
    for turn in range(80):
        for layer in (layers if turn % 2 else reversed(layers)):
            wanted = {}
            for node in layer:
                others = node.above + node.below
                wanted[node] = sum(other.x for other in others) / len(others) if others else node.x
            place(layer, wanted)
    return layers, chains


def drawing(modules):
    layers, chains = arranged(modules)
    nodes = [node for layer in layers for node in layer]
    left = min(node.x - node.width / 2 for node in nodes) - MARGIN - 62
    right = max(node.x + node.width / 2 for node in nodes) + MARGIN + 10
    top = 58
    height = top + len(layers) * (BOX_HEIGHT + BETWEEN_LAYERS) - BETWEEN_LAYERS + MARGIN + 8
    width = right - left

    def y(layer):
        return top + (len(layers) - 1 - layer) * (BOX_HEIGHT + BETWEEN_LAYERS)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" font-family="{FONT}">',
           "<title>The modules of Larder, by layer</title>",
           "<desc>Made by scripts/module-map.py (make map). Do not edit.</desc>",
           "<metadata>", *(escape(row, quote=False) for row in facts(modules)), "</metadata>",
           '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 8 4 0 8z" fill="#5a6b7b"/></marker></defs>',
           f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
           f'<text x="{MARGIN}" y="22" font-size="12" fill="#333333">An arrow leads to a module that is imported. '
           "Arrows that follow from others are left out.</text>",
           f'<text x="{MARGIN}" y="40" font-size="12" fill="#333333">Thick frame: also a library. '
           "Last line of a box: the C libraries that the module imports.</text>"]
    for layer in range(len(layers)):
        middle = y(layer) + BOX_HEIGHT / 2
        out.append(f'<rect x="{MARGIN}" y="{y(layer) - 8:.0f}" width="{width - 2 * MARGIN:.0f}" height="{BOX_HEIGHT + 16}" rx="6" '
                   f'fill="#f3f6f9"/>')
        out.append(f'<text x="{MARGIN + 8}" y="{middle + 4:.0f}" font-size="12" fill="#5a6b7b">layer {layer}</text>')
    for chain in chains:
        x, height_of = chain[0].x - left, y(chain[0].layer) + BOX_HEIGHT
        path = f"M{x:.1f} {height_of:.0f}"
        for node in chain[1:]:
            next_x, next_y = node.x - left, y(node.layer)
            bend = (next_y - height_of) / 2
            end = next_y if node.module is None else next_y - 1
            path += f" C{x:.1f} {height_of + bend:.0f} {next_x:.1f} {next_y - bend:.0f} {next_x:.1f} {end:.0f}"
            x, height_of = next_x, next_y
            if node.module is None:
                height_of += BOX_HEIGHT
                path += f" V{height_of:.0f}"
        out.append(f'<path d="{path}" fill="none" stroke="#5a6b7b" stroke-width="1.2" marker-end="url(#head)"/>')
    for node in nodes:
        if not node.module:
            continue
        x, top_of = node.x - left, y(node.layer)
        frame = ("#1f4e79", 2.4) if node.module.is_library else ("#7d8fa0", 1.2)
        out.append(f'<rect x="{x - node.width / 2:.1f}" y="{top_of}" width="{node.width:.1f}" height="{BOX_HEIGHT}" rx="6" '
                   f'fill="#ffffff" stroke="{frame[0]}" stroke-width="{frame[1]}"/>')
        rows = [(13, "#111111", node.module.name)] + [(10, "#444444", line) for line in node.lines if line]
        first = top_of + (22 if len(rows) == 3 else 27)
        for number, (size, color, line) in enumerate(rows):
            weight = ' font-weight="bold"' if number == 0 else ""
            out.append(f'<text x="{x:.1f}" y="{first + 15 * number}" font-size="{size}"{weight} text-anchor="middle" '
                       f'fill="{color}">{escape(line)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def differences(modules):
    """In what the picture differs from the sources."""
    try:
        text = open(PICTURE, encoding="utf-8").read()
        drawn = {row["module"]: row for row in map(json.loads, re.search(r"<metadata>\n(.*)\n</metadata>", text, re.S)[1].split("\n"))}
    except (OSError, TypeError, ValueError) as error:
        return [f"docs/architecture-map.svg cannot be read: {error}"]
    found = [f"{name} is drawn and is not a module" for name in sorted(set(drawn) - set(modules))]
    for name, module in sorted(modules.items()):
        if name not in drawn:
            found.append(f"{name} is not drawn")
            continue
        row = drawn[name]
        for what, now in (("imports", module.imports), ("shims", module.shims)):
            if set(row[what]) != now:
                found.append(f"{name} imports {' '.join(sorted(now)) or 'nothing'}; drawn: {' '.join(row[what]) or 'nothing'}")
        if row["layer"] != module.layer:
            found.append(f"{name} is in layer {module.layer}; drawn: {row['layer']}")
        if abs(row["lines"] - module.line_count) > max(SLACK, module.line_count / 10):
            found.append(f"{name} has {module.line_count} lines; drawn: {row['lines']}")
        if abs(row["files"] - module.file_count) > max(2, module.file_count / 10):
            found.append(f"{name} has {module.file_count} files; drawn: {row['files']}")
    return found


def main(arguments):
    modules = read()
    if not modules:
        sys.exit("module-map.py: no modules found in Package.swift")
    if arguments == ["--check"]:
        found = differences(modules)
        for line in found:
            print(line)
        if found:
            sys.exit("docs/architecture-map.svg is out of date: make map writes it again")
    elif arguments:
        sys.exit(__doc__)
    else:
        with open(PICTURE, "w", encoding="utf-8") as file:
            file.write(drawing(modules))


main(sys.argv[1:])
