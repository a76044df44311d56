#!/usr/bin/env python3
"""Writes vectors.json: what goes into HTTPSerialization, and the octets or the error that have to come out.

What Python defines decides: urllib for queries, urllib3 and requests for forms of parts, json, plistlib, expat (by ElementTree), codecs, hashlib,
zlib, brotli and zstandard, and Pillow for images. Where we differ on purpose the expectation is written here by hand, with the reason.
Needs: pip install requests pillow brotli zstandard. Chance is seeded: the file comes out the same each time, but for AVIF, which says when it was
written, and for other versions of the encoders.

    make.py                       writes vectors.json beside it
    make.py FILE TEXTS [SEED]     writes more to another place, so many texts of JSON among them; LARDER_SERIALIZATION_VECTORS=FILE has the tests read it
"""
import base64
import datetime
import gzip
import hashlib
import io
import json
import pathlib
import plistlib
import random
import struct
import sys
import urllib.parse
import xml.etree.ElementTree
import zlib

import brotli
import requests
import urllib3
import zstandard
from PIL import Image

sys.setrecursionlimit(10_000)
vectors = []
path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "vectors.json"
text_count = int(sys.argv[2]) if len(sys.argv) > 2 else 700
chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 9530)


def vector(kind, about, expect=None, *, error=None, text=None, octets=None, **options):
    """`expect` is a text; octets stand in base64."""
    assert (expect is None) != (error is None), about
    made = {"kind": kind, "about": about}
    if text is not None:
        made["text"] = text
    if octets is not None:
        made["octets"] = base64.b64encode(octets).decode()
    made.update({"options": options} if options else {})
    made.update({"expect": expect} if error is None else {"error": error})
    vectors.append(made)


def b64(octets):
    return base64.b64encode(octets).decode()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Queries: pairs by the rules of AFNetworking, escapes by urllib.

def pairs(value, name, arrays, booleans, nulls):
    if isinstance(value, dict):
        return [pair for key, part in value.items() for pair in pairs(part, f"{name}[{key}]" if name is not None else key, arrays, booleans, nulls)]
    if isinstance(value, list):
        form = {"brackets": "{}[]", "repeated": "{}", "indices": "{}[{}]"}[arrays]
        return [pair for place, part in enumerate(value) for pair in pairs(part, form.format(name, place), arrays, booleans, nulls)]
    if value is True or value is False:
        return [(name, {"numeric": "10", "literal": ["true", "false"]}[booleans][0 if value else 1])]
    if value is None:
        return {"bare": [(name, None)], "empty": [(name, "")], "out": []}[nulls]
    return [(name, str(value))]


def query(parameters, arrays="brackets", booleans="numeric", nulls="bare", spaces="percent"):
    quote = (lambda text: urllib.parse.quote(text, safe="/?")) if spaces == "percent" else (lambda text: urllib.parse.quote_plus(text, safe="/?"))
    return "&".join(quote(name) + ("" if value is None else "=" + quote(value)) for name, value in pairs(parameters, None, arrays, booleans, nulls))


WORDS = ["", "a", "b c", "é", "中文", "👴🏻👷", "a&b=c", "x[y]", "100%", "+", "#f", "/p?q", "~-._", "'\"", "\n", "\u0000", "k" * 60 + "é"]


def tree(depth):
    shape = chance.randrange(8 if depth < 3 else 6)
    if shape == 6:
        return [tree(depth + 1) for _ in range(chance.randrange(4))]
    if shape == 7:
        return {chance.choice(WORDS): tree(depth + 1) for _ in range(chance.randrange(4))}
    return [chance.choice(WORDS), chance.choice(WORDS), chance.randrange(-10**12, 10**12), chance.random() < .5, None, 1.5][shape]


for number in range(60):
    parameters = {chance.choice(WORDS) + str(place): tree(1) for place in range(chance.randrange(1, 5))}
    options = {"arrays": chance.choice(["brackets", "repeated", "indices"]), "booleans": chance.choice(["numeric", "literal"]),
               "nulls": chance.choice(["bare", "empty", "out"]), "spaces": chance.choice(["percent", "plus"])}
    vector("query", f"parameters by chance {number}", query(parameters, **options), text=compact(parameters), **options)
for number in range(20):
    flat = {chance.choice(WORDS) + str(place): [chance.choice(WORDS) for _ in range(chance.randrange(1, 4))] for place in range(3)}
    expected = urllib.parse.urlencode(flat, doseq=True, safe="/?", quote_via=urllib.parse.quote)
    vector("query", f"urlencode with sequences {number}", expected, text=compact(flat), arrays="repeated")
    expected = urllib.parse.urlencode(flat, doseq=True, safe="/?")
    vector("query", f"urlencode with plus signs {number}", expected, text=compact(flat), arrays="repeated", spaces="plus")
for target in ["http://h/p", "http://h/p?x=1", "http://h/p?", "http://h/p#f", "http://h/p?x#f", "/p?a=b&c#?", "p", "?x", "#", "http://h?q#a#b"]:
    parts = target.split("#", 1)
    head, _, old = parts[0].partition("?")
    joined = head + "?" + (old + "&" if old else "") + "k=v%20w" + ("#" + parts[1] if len(parts) == 2 else "")
    if urllib.parse.urlsplit(target).fragment:
        assert urllib.parse.urlsplit(joined).fragment == urllib.parse.urlsplit(target).fragment
    vector("target", f"parameters into {target}", joined, text=target)

# Forms of parts.

for number in range(40):
    fields, names = [], []
    for _ in range(chance.randrange(1, 5)):
        name, value = chance.choice(WORDS[1:]).replace("\u0000", "0"), chance.choice(WORDS)
        if chance.random() < .5:
            fields.append((name, value))
            names.append({"name": name, "value": value})
        else:
            content = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
            file, kind = chance.choice(WORDS[1:]).replace("\u0000", "0"), chance.choice(["image/png", "text/plain; charset=utf-8", "application/octet-stream"])
            fields.append((name, (file, content, kind)))
            names.append({"name": name, "octets": b64(content), "file": file, "type": kind})
    body, _ = urllib3.encode_multipart_formdata(fields, boundary="b0undary")
    vector("multipart", f"parts by chance, as urllib3 frames them {number}", b64(body), text=compact(names))
urllib3.filepost.choose_boundary = lambda: "b0undary"
requests.models.encode_multipart_formdata = lambda fields: urllib3.encode_multipart_formdata(fields, boundary="b0undary")
prepared = requests.Request("POST", "http://h/", data={"a": "1", "b": ["2", "3"]}, files={"f": ("x.txt", b"text", "text/plain")}).prepare()
vector("multipart", "as requests frames them", b64(prepared.body), text=compact(
    [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}, {"name": "b", "value": "3"}, {"name": "f", "octets": b64(b"text"), "file": "x.txt", "type": "text/plain"}]))
for bad in ["a\r\nX: y", "a\nb", "\u0000"]:
    vector("multipart", f"a type that is no field's value {bad!r}", error="malformed_part", text=compact([{"name": "a", "octets": "", "file": "f", "type": bad}]))

# JSON: accepted or refused as Python's does, numbers as they are written.


class Number(str):
    pass


def refuse(name):
    raise ValueError(name)


def parse(text):
    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), parse_int=Number, parse_float=Number, parse_constant=refuse)


def written(value):
    if isinstance(value, tuple):
        return "{" + ",".join(f"{written(name)}:{written(part)}" for name, part in value[1]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, str):
        # As few escapes as can be, in lower case.
        return json.dumps(value, ensure_ascii=False)
    return {True: "true", False: "false", None: "null"}[value]


def stripped(value, elements):
    if isinstance(value, tuple):
        return ("object", [(name, stripped(part, elements)) for name, part in value[1] if part is not None])
    if isinstance(value, list):
        return [stripped(part, elements) for part in value if not (elements and part is None)]
    return value


def has_half_pair(value):
    if isinstance(value, tuple):
        return any(has_half_pair(part) for pair in value[1] for part in pair)
    if isinstance(value, list):
        return any(map(has_half_pair, value))
    return isinstance(value, str) and any(0xD800 <= ord(character) < 0xE000 for character in value)


def json_text(depth=0):
    shape = chance.randrange(7 if depth < 4 else 5)
    blank = lambda: chance.choice(["", "", "", " ", "\n", "\t\r"])
    if shape == 5:
        return "[" + blank() + ",".join(blank() + json_text(depth + 1) + blank() for _ in range(chance.randrange(4))) + "]"
    if shape == 6:
        return "{" + blank() + ",".join(json_string() + blank() + ":" + blank() + json_text(depth + 1) for _ in range(chance.randrange(4))) + blank() + "}"
    return [json_string(), json_string(), chance.choice(["0", "-0", "12", "-1.50", "1e5", "2E-7", "0.10e+03", "123456789012345678901234567890", "1e400"]),
            "null", chance.choice(["true", "false", "null"])][shape]


def json_string():
    parts = ["a", "name", "é", "€", "𝄞", "\\n", "\\\"", "\\\\", "\\/", "\\b\\f\\r\\t", "\\u00e9", "\\ud834\\udd1e", "\\u0000", "\u007f", "a long run of plain text", ""]
    return '"' + "".join(chance.choice(parts) for _ in range(chance.randrange(5))) + '"'


def mutated(text):
    for _ in range(chance.randrange(1, 3)):
        place = chance.randrange(len(text) + 1)
        if chance.random() < .5:
            text = text[:place] + text[place + 1:]
        else:
            text = text[:place] + chance.choice("{}[]\",:\\u0129.eE+-truefalsn \n\u0001é'/*#") + text[place:]
    return text


BY_HAND = ["", " ", "  ", "nul", "NaN", "[Infinity]", "-Infinity", "01", "1.", ".5", "+1", "-", "1e", "0x1", "[1,]", "{\"a\":1,}", "{a:1}", "'a'", "[1 2]", "\"\\x\"",
           "\"\t\"", "\"\n\"", "\ufeff[]", "[]]", "{\"a\":1}}", "\"\\ud834\"", "\"\\udd1e\\ud834\"", "[\"\\uD834\\u0041\"]", "// c\n1", "1 // c", "\u00a01", "[\u2028]", "\"\u2028\"",
           "1e99999", "-0.0", "{\"a\":1,\"a\":2}", "{\"\":{}}", "\"\\u12\"", "\"\\U0041\"", "truefalse", "[true false]", "{\"a\"}", "{:1}", "{1:2}", "[" * 512 + "]" * 512]
for number, text in enumerate(BY_HAND + [mutated(json_text()) if chance.random() < .6 else json_text() for _ in range(text_count)]):
    if text in ("", " "):
        continue  # Nothing, which a serializer takes as null.
    try:
        value = parse(text)
    except ValueError:
        vector("json", f"refused as by Python {number}", error="refused", text=text)
        continue
    if has_half_pair(value):
        vector("json", f"half of a pair, which Python takes {number}", error="half_pair", text=text)
        continue
    vector("json", f"read as by Python {number}", written(value), text=text)
    if "null" in text:
        vector("nulls", f"without null members {number}", written(stripped(value, False)), text=text, removal="members")
        vector("nulls", f"without nulls {number}", written(stripped(value, True)), text=text, removal="everywhere")
for octets in [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'["\xe2\x82"]', b"\xff\xfe[\x00]\x00", b'"\xc3\xa9"']:
    try:
        vector("json", f"octets {octets!r}", written(parse(octets.decode("utf-8"))), octets=octets)
    except ValueError:
        vector("json", f"octets {octets!r}", error="refused", octets=octets)

# XML: trees as expat tells them. Differences on purpose: no declared entity or default is taken.


def element(node):
    children = []
    for text, child in [(node.text, None)] + [pair for child in node for pair in ((None, child), (child.tail, None))]:
        if child is not None:
            children.append(element(child))
        elif text:
            children.append(text)
    return [node.tag, [[name, value] for name, value in node.attrib.items()], children]


XML = ["<a/>", "<a></a>", "<a>t</a>", "<a> <b/> </a>", "<a x='1' y=\"2\"/>", "<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x20AC;</a>", "<a><![CDATA[<b>&]]></a>", "<a>x<![CDATA[y]]>z</a>",
       "<?xml version='1.0'?>\n<a/>\n", "<!-- c --><a><!-- d -->t<!-- e -->u</a><!-- f -->", "<a><?p d?>t</a>", "<p:a xmlns:p='urn:x'><p:b p:c='1' d='2'/></p:a>",
       "<a xmlns='urn:d'><b/><c xmlns=''/></a>", "<a xml:lang='en'/>", "<é ü='ö'>中</é>", "<a x='a&#10;b'/>", "<a x='a\nb\tc'/>", "<a>\r\n</a>", "<a>\r</a>", "<a>]]&gt;</a>",
       "<!DOCTYPE a><a/>", "<!DOCTYPE a SYSTEM 'x.dtd'><a/>", "<!DOCTYPE plist PUBLIC '-//x' 'http://127.0.0.1:1/x'><a/>", "<a><b><c><d>deep</d></c></b></a>",
       "<?xml version='1.0' encoding='utf-8'?><a>é</a>", "<?xml version='1.0' standalone='yes'?><a/>", "<a.b-c_d/>", "<_/>", "<a><b/>tail<c/>tail</a>", "<a x=''/>",
       # Malformed.
       "", " ", "<", "<a", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>x", "x<a/>", "<a x=1/>", "<a x/>", "<a x='1' x='2'/>", "<a>&</a>", "<a>&x</a>", "<a>&#0;</a>", "<a>&#x110000;</a>",
       "<a>\u0001</a>", "<a>]]></a>", "<a><!-- -- --></a>", "<a><![CDATA[</a>", "<1/>", "<p:a/>", "<a p:b='1'/>", "<a x='<'/>", " <?xml version='1.0'?><a/>", "<?xml?><a/>",
       "<!DOCTYPE a><!DOCTYPE a><a/>", "<a/><!DOCTYPE a>", "<a:b:c xmlns:a='u'/>", "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>", "<?xML d?><a/>"]
for number, text in enumerate(XML):
    try:
        expected = compact(element(xml.etree.ElementTree.fromstring(text)))
        vector("xml", f"read as by expat {number}", expected, text=text)
    except xml.etree.ElementTree.ParseError:
        vector("xml", f"refused as by expat {number}", error="malformed", text=text)
for text, error in [("<a>&copy;</a>", "entity"), ("<?xml version='1.0' encoding='no-such-charset'?><a/>", "malformed"), ("<!DOCTYPE a SYSTEM 'x'><a>&copy;</a>", "entity"), ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "declaration"),
                    ("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>", "declaration"), ("<!DOCTYPE a [<!ENTITY % b SYSTEM 'http://127.0.0.1:1/'> %b;]><a/>", "declaration"),
                    ("<!DOCTYPE a [<!ATTLIST a b CDATA 'c'>]><a/>", "declaration"), ("<a>" * 200 + "</a>" * 200, "too_deep"), ("<a " + " ".join(f"x{i}=''" for i in range(300)) + "/>", "too_large"),
                    ("<!DOCTYPE l [" + "".join(f"<!ENTITY l{i} '" + f"&l{i - 1};" * 10 + "'>" for i in range(1, 10)) + "<!ENTITY l0 'ha'>]><l>&l9;</l>", "declaration")]:
    vector("xml", f"refused on purpose: {text[:40]}", error=error, text=text)
for charset in ["utf-16", "iso-8859-1", "utf-8-sig", "koi8-r"]:
    body = (f"<?xml version='1.0' encoding='{charset}'?><a>é</a>" if charset == "iso-8859-1" else f"<?xml version='1.0' encoding='{charset}'?><a>д</a>" if charset == "koi8-r" else "<a>é</a>").encode(charset)
    vector("xml", f"in {charset}", compact(element(xml.etree.ElementTree.fromstring(body))), octets=body)

# Property lists: what plistlib reads, and the octets that it writes.


def plain(value):
    """Told apart by their types."""
    if isinstance(value, dict):
        return ["dict", [[key, plain(part)] for key, part in value.items()]]
    if isinstance(value, list):
        return ["array", [plain(part) for part in value]]
    if isinstance(value, bool):
        return ["bool", "1" if value else "0"]
    if isinstance(value, int):
        return ["integer", str(value)]
    if isinstance(value, float):
        return ["real", struct.pack(">d", value).hex()]
    if isinstance(value, bytes):
        return ["data", b64(value)]
    if isinstance(value, datetime.datetime):
        return ["date", value.strftime("%Y-%m-%dT%H:%M:%SZ") if value.year > 999 else f"{value.year:04}" + value.strftime("-%m-%dT%H:%M:%SZ")]
    if isinstance(value, plistlib.UID):
        return ["uid", str(value.data)]
    return ["string", value]


def plist_tree(depth, has_uid):
    shape = chance.randrange(10 if depth < 4 else 7)
    if shape == 8:
        return [plist_tree(depth + 1, has_uid) for _ in range(chance.choice([0, 1, 3, 20]))]
    if shape == 9:
        return {chance.choice(["", "key", "é", "a<b>&", "k" * 20]) + str(place): plist_tree(depth + 1, has_uid) for place in range(chance.randrange(4))}
    return [chance.choice(["", "text", "é中𝄞", "<&>\"'", "long " * 10, "tab\tand\nline"]), chance.choice([0, 1, 255, 256, 65536, 2**31, 2**32, 2**63 - 1, 2**64 - 1, -1, -2**63]),
            chance.choice([0.5, -1.25, 1e300, 1e-5, 1e16, 123456.789, 0.1]), True, False, bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 14, 15, 100]))),
            datetime.datetime(chance.randrange(1, 10000), chance.randrange(1, 13), chance.randrange(1, 29), chance.randrange(24), chance.randrange(60), chance.randrange(60)),
            plistlib.UID(chance.choice([0, 255, 256, 2**32])) if has_uid else "no uid"][shape]


for number in range(40):
    value = plist_tree(0, False)
    body = plistlib.dumps(value, sort_keys=False)
    vector("plist", f"XML by chance {number}", compact(plain(plistlib.loads(body))), octets=body, writes="xml")
    body = plistlib.dumps(value, fmt=plistlib.FMT_BINARY, sort_keys=False)
    vector("plist", f"binary by chance {number}", compact(plain(plistlib.loads(body))), octets=body, writes="binary")
for number in range(10):
    body = plistlib.dumps(plist_tree(0, True), fmt=plistlib.FMT_BINARY, sort_keys=False)
    vector("plist", f"binary with references {number}", compact(plain(plistlib.loads(body))), octets=body, writes="binary")
wrap = lambda content: f'<plist version="1.0">{content}</plist>'.encode()
PLISTS = [wrap(content) for content in [
    "<integer>0x1F</integer>", "<integer> 7 </integer>", "<integer>+7</integer>", "<integer></integer>", "<integer>1.0</integer>", "<integer>a</integer>",
    "<real>1e3</real>", "<real>nan</real>", "<real>inf</real>", "<real>x</real>", "<real/>", "<date>2000-02-29T12:00:00Z</date>", "<date>2001-02-29T12:00:00Z</date>",
    "<date>x</date>", "<string>a<!-- c -->b</string>", "<string><![CDATA[<>]]></string>", "<string/>", "<data>AAEC</data>", "<data>\n\tAA\n\tEC\n</data>", "<data/>",
    "<dict><key>a</key><true/></dict>", "<dict><key>a</key></dict>", "<dict><true/></dict>", "<dict><key>a</key><key>b</key><true/></dict>", "<dict/>", "<array><dict/><array/></array>",
    "<array><string>a</string", "<string>a</array>"]]
binary = plistlib.dumps({"a": [1, "x" * 20, 2.5]}, fmt=plistlib.FMT_BINARY)
PLISTS += [binary[:-1], binary[1:], b"bplist00", b"bplist00" + b"\0" * 32, b"", b"{}", b"bplist16" + binary[8:]]
# Differences on purpose: Apple reads a sign before hexadecimal digits. plistlib passes over an element that it does not know, and over octets that are missing,
# and takes a root that is no plist, several values, text between elements, and a day without its time.
for number, body in enumerate(PLISTS):
    try:
        expected = compact(plain(plistlib.loads(body)))
        vector("plist", f"read as by plistlib {number}", expected, octets=body)
    except Exception:
        vector("plist", f"refused as by plistlib {number}", error="malformed", octets=body)
vector("plist", "a sign before hexadecimal digits", compact(plain(-16)), octets=wrap("<integer>-0x10</integer>"))
for about, body in [("a root that is no plist", b"<dict/>"), ("an unknown element", wrap("<unknown/>")), ("an octet is missing", binary[:20] + binary[21:]), ("two values", wrap("<true/><true/>")), ("text between elements", wrap("<array>x</array>")),
                    ("a day alone", wrap("<date>2000-01-01Z</date>")), ("an entity", b"<!DOCTYPE plist [<!ENTITY a 'b'>]>" + wrap("<string>&a;</string>")),
                    ("base64 with other letters", wrap("<data>A*A*E*C*</data>")), ("an array within itself", b"bplist00\xa1\x00\x08" + b"\0" * 6 + b"\1\1" + struct.pack(">QQQ", 1, 0, 10)),
                    ("an object of none", b"bplist00\x00\x08" + b"\0" * 6 + b"\1\1" + struct.pack(">QQQ", 1, 0, 9)), ("a key that is no string", plistlib.dumps({"a": 1}, fmt=plistlib.FMT_BINARY).replace(b"Qa", b"\x10a"))]:
    vector("plist", f"refused on purpose: {about}", error="malformed", octets=body)

# Images: kind and size as Pillow reads them.
MODES = {"PNG": ["RGB", "RGBA", "L", "P", "1", "LA", "I;16"], "JPEG": ["RGB", "L", "CMYK"], "GIF": ["P", "L"], "TIFF": ["RGB", "1", "L", "CMYK"], "BMP": ["RGB", "P", "1"],
         "ICO": ["RGBA"], "XBM": ["1"], "WEBP": ["RGB", "RGBA"], "AVIF": ["RGB", "RGBA"]}
SIZES = [(1, 1), (3, 2), (17, 300), (640, 1)]
for form, modes in MODES.items():
    for place, mode in enumerate(modes):
        for size in SIZES if form != "ICO" else [(16, 16), (48, 48), (256, 256)]:
            if form == "AVIF" and size == (640, 1):
                continue
            body = io.BytesIO()
            options = {"JPEG": {"progressive": True} if place else {"exif": b"Exif\0\0" + b"x" * 200}, "WEBP": {"lossless": bool(place)}, "ICO": {"sizes": [size]}}.get(form, {})
            Image.new(mode, size).save(body, form, **options)
            read = Image.open(io.BytesIO(body.getvalue()))
            # Enough for the header; a TIFF may say its size at the end.
            octets = body.getvalue() if form == "TIFF" else body.getvalue()[:700]
            vector("image", f"{form} {mode} of {size}", f"{read.format.lower()} {read.size[0]} {read.size[1]}", octets=octets)
            if size == (3, 2):
                vector("image", f"{form} {mode} cut short", error="malformed", octets=octets[:9])
frames = [Image.new("RGB", (9, 8), (shade, 0, 0)) for shade in (0, 200)]
for form in ["GIF", "WEBP", "PNG", "AVIF"]:
    body = io.BytesIO()
    frames[0].save(body, form, save_all=True, append_images=frames[1:])
    vector("image", f"{form} of two frames", f"{form.lower()} 9 8", octets=body.getvalue()[:900])
png = io.BytesIO()
Image.new("L", (1, 1)).save(png, "PNG")


def huge(width, height):
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return png.getvalue()[:8] + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))


for size in [(30000, 30000), (40000, 1), (1, 2**31 - 1)]:
    vector("image", f"too large {size}", error="too_large", octets=huge(*size))
for about, octets in [("a PNG without pixels", huge(0, 1)), ("a check value", huge(2, 2)[:-1] + b"\0"), ("HTML", b"<!DOCTYPE html><html></html>"), ("nothing", b""), ("PDF", b"%PDF-1.7\n" * 5),
                      ("SVG", b"<svg xmlns='http://www.w3.org/2000/svg'/>"), ("HEIC", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"), ("a sound", b"RIFF\x24\0\0\0WAVEfmt "), ("MP4", b"\0\0\0\x14ftypisom\0\0\0\0isom")]:
    vector("image", about, error="malformed", octets=octets)

# Text by charset.
SAMPLES = {"utf-8": "é€𝄞", "utf-16-be": "é€𝄞", "utf-16-le": "é€𝄞", "utf-32-be": "é𝄞", "iso-8859-1": "éÿ\x80", "iso-8859-2": "ąęł", "iso-8859-5": "Привет", "iso-8859-7": "Ελλάδα",
           "iso-8859-8": "שלום", "iso-8859-9": "ığş", "iso-8859-15": "€œ", "windows-1250": "ąęł€", "windows-1251": "Привет", "windows-1252": "€“é”", "windows-1253": "Ελ", "windows-1254": "ığş",
           "windows-1255": "שלום", "windows-1256": "سلام", "windows-1257": "ąčę", "koi8-r": "Привет", "koi8-u": "їєґ", "ibm866": "Привет", "shift_jis": "日本語ｱ", "euc-jp": "日本語",
           "iso-2022-jp": "日本a語", "gbk": "中文", "gb2312": "中文", "gb18030": "中文€𝄞", "big5": "中文", "euc-kr": "한글", "us-ascii": "plain", "tis-620": "ไทย"}
for charset, text in SAMPLES.items():
    label = {"utf-16-be": "utf-16be", "utf-16-le": "utf-16le", "utf-32-be": "utf-32be"}.get(charset, charset)
    vector("text", charset, text * 3, octets=(text * 3).encode(charset), charset=label)
for charset, octets in [("utf-8", b"a\xff"), ("us-ascii", b"a\x80"), ("shift_jis", b"a\x81"), ("euc-jp", b"a\x8f"), ("utf-16be", b"\xd8\0\0a"), ("gbk", b"a\xff\xff"), ("x-none", b"a"), ("utf-7", b"a")]:
    vector("text", f"no {charset}: {octets!r}", error="malformed_text", octets=octets, charset=charset)

# Digests and codings.
for content in [b"", b"a", b'{"hello": "world"}\n', bytes(range(256)) * 40]:
    vector("digest", f"of {len(content)} octets", f"sha-256=:{b64(hashlib.sha256(content).digest())}:, sha-512=:{b64(hashlib.sha512(content).digest())}:", octets=content)
LONG = json.dumps([chance.random() for _ in range(300)]).encode()
CODERS = {"gzip": lambda octets: gzip.compress(octets, mtime=0), "deflate": zlib.compress, "br": brotli.compress, "zstd": zstandard.ZstdCompressor(write_checksum=True).compress}
for first, inner in CODERS.items():
    for content in [b"", b"a", LONG]:
        vector("coding", f"{first} of {len(content)}", b64(content), octets=inner(content), coding=first)
    vector("coding", f"{first} cut short", error="malformed_coding", octets=inner(LONG)[:-2], coding=first)
    vector("coding", f"{first} with more behind it", error="malformed_coding", octets=inner(LONG) + b"abc", coding=first)
    vector("coding", f"{first} of 16 MiB of nothing", error="body_too_large", octets=inner(b"\0" * (16 << 20)), coding=first)
    for second, outer in CODERS.items():
        vector("coding", f"{first} in {second}", b64(LONG), octets=outer(inner(LONG)), coding=f"{first}, {second}")

path.write_text("[\n" + ",\n".join(json.dumps(made, ensure_ascii=True) for made in vectors) + "\n]\n")
counts = {kind: sum(made["kind"] == kind for made in vectors) for kind in dict.fromkeys(made["kind"] for made in vectors)}
print(len(vectors), counts)
