#!/usr/bin/env python3
"""Writes vectors.json: chains by policies, and what has to come of each. Needs Python's cryptography (48 or later).

Keys are made anew and thrown away; the file that is committed is the one that counts. An outcome is `accept`, a reason of
`TrustFailure.Reason`, or `fault:` and the case of `TrustPolicyFault` with which the policy is refused.
"""
import base64
import collections
import hashlib
import json
import pathlib

from authority import *

certificates, lists, answers, vectors = {}, {}, {}, []


def cert(label, made):
    assert label not in certificates, label
    certificates[label] = made
    return made


def vector(about, chain, expect, *, host="good.example.com", at=NOW, anchors=("root",), **more):
    """`chain` is labels with blanks between, or a list of them."""
    chain = chain.split() if isinstance(chain, str) else chain
    policy = {field: more.pop(field) for field in list(more) if field not in OUTSIDE}
    policy["anchors"] = anchors if anchors == "pins" else list(anchors)
    vectors.append({"about": about, "chain": chain, "host": host, "at": at, "policy": policy, "expect": expect, **more})


# Fields of the vector and not of its policy.
OUTSIDE = {"depth", "pin", "verified", "allowed", "reported", "staple", "timestamps", "tls", "counted", "listed"}


def pins(mode, *of, **more):
    """`cert:LABEL`, `key:LABEL` or a pin as it is written."""
    return {"mode": mode, "of": list(of), **more}


# MARK: The usual world

root = cert("root", make("Root", ca=True, start=NOW - 365 * DAY, end=NOW + 365 * DAY))
middle = cert("middle", make("Middle", root, ca=True, path=0, start=NOW - 90 * DAY, end=NOW + 90 * DAY))
GOOD = ["good.example.com"]
leaf = cert("leaf", make("leaf", middle, names=GOOD))
direct = cert("direct", make("direct", root, names=GOOD))
other_root = cert("otherRoot", make("Other root", ca=True, start=NOW - 365 * DAY, end=NOW + 365 * DAY))
other_leaf = cert("otherLeaf", make("other leaf", other_root, names=GOOD))
renewed = cert("renewed", make("leaf", middle, names=GOOD, start=NOW - DAY, end=NOW + 60 * DAY))
alone = cert("alone", make("alone", names=GOOD))
alone_other = cert("aloneOther", make("alone", names=["other.example.com"], keyed="alone"))

vector("a chain of three", "leaf middle", "accept", verified=["leaf", "middle", "root"])
vector("a chain of two", "direct", "accept", verified=["direct", "root"])
vector("the root sent along", "leaf middle root", "accept", verified=["leaf", "middle", "root"])
vector("sent in the wrong order", "leaf root middle", "accept", verified=["leaf", "middle", "root"])
vector("a stranger sent along", "leaf middle otherLeaf", "accept", verified=["leaf", "middle", "root"])
vector("sent twice", "leaf leaf middle middle", "accept", verified=["leaf", "middle", "root"])
vector("as many as are looked at", ["leaf"] + ["middle"] * 31, "accept")
vector("one more than are looked at", ["leaf"] + ["middle"] * 32, "malformed")
vector("an intermediate as the anchor", "leaf", "accept", anchors=["middle"], verified=["leaf", "middle"])
vector("the server's own certificate as the anchor", "leaf", "accept", anchors=["leaf"], verified=["leaf"])
vector("a self-signed one as the anchor", "alone", "accept", anchors=["alone"], verified=["alone"])
vector("one of two anchors", "leaf middle", "accept", anchors=["otherRoot", "root"])
vector("no anchors", "leaf middle", "fault:emptyAnchors", anchors=[])

# MARK: Who vouches

vector("self-signed", "alone", "untrusted_root", depth=0)
vector("self-signed, with a good chain behind it", "alone middle root", "untrusted_root", depth=0)
vector("another root sent along", "otherLeaf otherRoot", "untrusted_root", depth=1)
vector("the root is of another's anchors", "leaf middle root", "untrusted_root", anchors=["otherRoot"], depth=2)
twin = cert("twin", make("Root", ca=True, keyed="twin root"))
twin_leaf = cert("twinLeaf", make("twin leaf", twin, names=GOOD))
vector("a root of the same name", "twinLeaf twin", "untrusted_root", depth=1)
vector("the intermediate is missing", "leaf", "incomplete_chain", depth=0)
vector("a stranger in the intermediate's place", "leaf otherRoot", "incomplete_chain", depth=0)
vector("another root, not sent", "otherLeaf", "incomplete_chain", depth=0)
vector("the issuer of the intermediate is unknown", "leaf middle", "incomplete_chain", anchors=["otherRoot"], depth=1)
vector("the root sent twice, still not an anchor", "otherLeaf otherRoot otherRoot", "untrusted_root", depth=1)

for depth, count in ((8, "accept"), (9, "chain_too_long"), (10, "chain_too_long"), (12, "chain_too_long")):
    above, chain = root, []
    for step in range(depth):
        label = f"long{depth}.{step}"
        above = cert(label, make(f"Step {depth}.{step}", above, ca=True, keyed="step"))
        chain.insert(0, label)
    cert(f"long{depth}", make(f"deep {depth}", above, names=GOOD, keyed="deep"))
    vector(f"{depth} intermediates", [f"long{depth}"] + chain, count)

forged = cert("forged", make("forged", middle, names=GOOD, signer=key("forger")))
forged_middle = cert("forgedMiddle", make("Middle", root, ca=True, keyed="Middle", signer=key("forger")))
changed = cert("changed", Made(changed_last(leaf.der), leaf.key))
vector("signed by another key than it says", "forged middle", "bad_signature", depth=0)
vector("an intermediate signed by another key", "leaf forgedMiddle", "bad_signature", depth=1)
vector("a signature with a bit changed", "changed middle", "bad_signature", depth=0)
tampered = cert("tampered", Made(leaf.der.replace(b"good.example", b"evil.example"), leaf.key))
vector("a name changed behind the signature", "tampered middle", "bad_signature", host="evil.example.com", depth=0)
swapped = cert("swapped", remade(direct, root.key, lambda e: e, tlv(0x30, bytes.fromhex("06082a8648ce3d040303"))))
vector("an algorithm that the signature is not of", "swapped", "bad_signature", depth=0)

# MARK: Dates, both sides of each

for label, at_depth in (("leaf", 0), ("middle", 1), ("root", 2)):
    # Only this certificate's dates are near.
    far = {"start": NOW - 3650 * DAY, "end": NOW + 3650 * DAY}
    near = {"start": NOW - DAY, "end": NOW + DAY}
    dated_root = cert(f"{label}Dated2", make(f"Dated root {label}", ca=True, keyed="dated root", **(near if at_depth == 2 else far)))
    dated_middle = cert(f"{label}Dated1", make(f"Dated middle {label}", dated_root, ca=True, keyed="dated middle", **(near if at_depth == 1 else far)))
    cert(f"{label}Dated0", make(f"dated {label}", dated_middle, names=GOOD, keyed="dated", **(near if at_depth == 0 else far)))
    chain, anchor = [f"{label}Dated0", f"{label}Dated1"], [f"{label}Dated2"]
    for about, at, expect in (
            ("long before", NOW - 300 * DAY, "not_yet_valid"), ("one second before the first", NOW - DAY - 1, "not_yet_valid"),
            ("in the first second", NOW - DAY, "accept"), ("in the last second", NOW + DAY, "accept"),
            ("one second after the last", NOW + DAY + 1, "expired"), ("long after", NOW + 300 * DAY, "expired")):
        depth = {} if expect == "accept" else {"depth": at_depth}
        vector(f"{label}: {about}", chain, expect, at=at, anchors=anchor, **depth)
        allowed = "accept" if expect == "expired" else expect
        told = {"allowed": ["expired"]} if expect == "expired" else {}
        vector(f"{label}: {about}, where expired is allowed", chain, allowed, at=at, anchors=anchor, allow_expired=True,
               **told, **({} if allowed == "accept" else depth))

eternal = cert("eternal", make("eternal", middle, names=GOOD, end=253402300799))
vector("without an end (RFC 5280 4.1.2.5)", "eternal middle", "accept")
offset_dates = with_dates(tlv(0x17, b"260501000000+0000"), tlv(0x17, b"260701000000+0000"))
no_seconds = with_dates(tlv(0x17, b"2605010000Z"), tlv(0x17, b"2607010000Z"))
fraction = with_dates(tlv(0x18, b"20260501000000.5Z"), tlv(0x18, b"20270701000000.5Z"))
backwards = with_dates(tlv(0x17, b"260701000000Z"), tlv(0x17, b"260501000000Z"))
for label, change, expect in (("offsetDates", offset_dates, "malformed"), ("noSeconds", no_seconds, "malformed"),
                              ("fraction", fraction, "malformed"), ("backwards", backwards, "not_yet_valid"),
                              ("noDates", with_dates(tlv(0x17, b"never"), tlv(0x17, b"always")), "malformed")):
    cert(label, remade(direct, root.key, change))
    vector(f"dates: {label}", label, expect, depth=0)
vector("dates are judged in the unjudged root's place, too", "leafDated0 leafDated1", "expired", at=NOW + DAY + 1,
       pins=pins("publicKey", "key:leafDated0"), allow_untrusted_root=True, depth=0)
vector("an untrusted intermediate past its end, on top", "middleDated0 middleDated1", "expired", at=NOW + DAY + 1,
       pins=pins("publicKey", "key:middleDated1"), allow_untrusted_root=True, depth=1)

# MARK: Names (RFC 9525)

cert("names", make("names", root, names=[
    "www.example.com", "*.wild.example.com", "xn--bcher-kva.example.com", "under_score.example.com", "UPPER.Example.COM",
    "*.xn--bcher-kva.example.com", "192.0.2.1", "2001:db8::1", "*.upper.example.com"]))
for host, expect, *why in (
        ("www.example.com", "accept"), ("WWW.EXAMPLE.COM", "accept"), ("upper.example.com", "accept"),
        ("example.com", "host_mismatch"), ("a.www.example.com", "host_mismatch"), ("ww.example.com", "host_mismatch"),
        ("www.example.com.", "host_mismatch", "a final dot"), ("www.example.co", "host_mismatch"),
        ("www.example.com.evil.example", "host_mismatch"), ("xwww.example.com", "host_mismatch"),
        ("a.wild.example.com", "accept"), ("A.WILD.example.com", "accept"), ("xn--a-ecp.wild.example.com", "accept"),
        ("wild.example.com", "host_mismatch"), ("a.b.wild.example.com", "host_mismatch", "a star is one label"),
        (".wild.example.com", "host_mismatch"), ("*.wild.example.com", "host_mismatch"), ("a.upper.example.com", "accept"),
        ("xn--bcher-kva.example.com", "accept"), ("b\u00fccher.example.com", "host_mismatch", "not an A-label"),
        ("a.xn--bcher-kva.example.com", "accept"), ("under_score.example.com", "accept"),
        ("192.0.2.1", "accept"), ("192.0.2.2", "host_mismatch"), ("192.0.2.01", "host_mismatch", "not an address"),
        ("3221225985", "host_mismatch", "an address in one number"), ("0xc0000201", "host_mismatch"),
        ("192.0.513", "host_mismatch"), ("[2001:db8::1]", "accept"), ("2001:DB8:0:0::1", "accept"),
        ("2001:db8::2", "host_mismatch"), ("::ffff:192.0.2.1", "host_mismatch", "another type of address"),
        ("192.0.2.1.", "host_mismatch"), ("", "host_mismatch"), (".", "host_mismatch"), ("www.example.com\0", "host_mismatch"),
        ("www.example.com\0.evil.example", "host_mismatch"), ("www example.com", "host_mismatch"),
        ("www..example.com", "host_mismatch"), ("a" * 64 + ".wild.example.com", "host_mismatch", "a label of 64"),
        ("a" * 63 + ".wild.example.com", "accept", "a label of 63"), ("www.example.com:443", "host_mismatch"),
        ("user@www.example.com", "host_mismatch"), ("localhost", "host_mismatch")):
    vector(f"name: {host or 'none'}" + "".join(f" ({one})" for one in why), "names", expect, host=host,
           **({} if expect == "accept" else {"depth": 0}))
vector("another host, where the host is not asked", "names", "accept", host="other.example.com", validates_host=False)

cert("oddNames", make("odd", root, names=["w*.part.example.com", "a.*.middle.example.com", "*.com", "*", "*.*.double.example.com",
                                          "xn--*.ace.example.com", "trailing.example.com.", ".leading.example.com",
                                          "dns:203.0.113.9", "*.0.113.9", "*a.part.example.com", "*."]))
for host in ("www.part.example.com", "w.part.example.com", "a.b.middle.example.com", "example.com", "com", "localhost",
             "a.b.double.example.com", "xn--a.ace.example.com", "trailing.example.com", "leading.example.com", "a.leading.example.com",
             "203.0.113.9", "ba.part.example.com"):
    vector(f"odd name: {host}", "oddNames", "host_mismatch", host=host, depth=0)

cert("commonName", make("good.example.com", root, keyed="commonName"))
vector("a common name alone", "commonName", "host_mismatch", depth=0)
cert("commonNameBeside", make("good.example.com", root, names=["other.example.com"], keyed="commonName"))
vector("a common name beside another name", "commonNameBeside", "host_mismatch", depth=0)
cert("commonAddress", make("192.0.2.1", root, keyed="commonName"))
vector("an address as common name", "commonAddress", "host_mismatch", host="192.0.2.1", depth=0)
cert("noSubject", make("", root, names=GOOD, keyed="commonName"))
vector("no subject", "noSubject", "accept")
cert("mailOnly", make("mail", root, keyed="commonName", extra=[(x509.SubjectAlternativeName([x509.RFC822Name("a@good.example.com")]), False)]))
vector("a mail address as the only name", "mailOnly", "host_mismatch", depth=0)
cert("uriOnly", make("uri", root, keyed="commonName", extra=[(x509.SubjectAlternativeName([x509.UniformResourceIdentifier("https://good.example.com/")]), False)]))
vector("a URI as the only name", "uriOnly", "host_mismatch", depth=0)

for label, raw in (
        ("nul", [(0x82, b"good.example.com\0.evil.example")]), ("nulFirst", [(0x82, b"\0good.example.com"), (0x82, b"good.example.com")]),
        ("highBit", [(0x82, "g\u00f6od.example.com".encode()), (0x82, b"good.example.com")]),
        ("latin", [(0x82, b"g\xf6od.example.com"), (0x82, b"good.example.com")]),
        ("newline", [(0x82, b"good.example.com\n"), (0x82, b"good.example.com")]),
        ("blank", [(0x82, b"good.example.com ")]), ("shortAddress", [(0x87, bytes(3)), (0x82, b"good.example.com")]),
        ("longAddress", [(0x87, bytes(17)), (0x82, b"good.example.com")]),
        ("maskedAddress", [(0x87, bytes(8)), (0x82, b"good.example.com")])):
    cert(label, make(f"raw {label}", root, keyed="raw", extra=[(names_der(*raw), False)]))
    vector(f"names: {label}", label, "malformed", depth=0)
cert("emptyName", make("empty", root, keyed="raw", extra=[(names_der((0x82, b""), (0x82, b"good.example.com")), False)]))
vector("an empty name beside the right one", "emptyName", "accept")
cert("emptyNames", make("empties", root, keyed="raw", extra=[(names_der(), False)]))
vector("a list of no names", "emptyNames", "host_mismatch", depth=0)
cert("brokenNames", make("broken", root, keyed="raw", extra=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), b"\x30\x09\x82"), False)]))
vector("names that are no DER", "brokenNames", "malformed", depth=0)
cert("doubledNames", remade(direct, root.key, doubled(bytes.fromhex("0603551d11"))))
vector("names that stand there twice", "doubledNames", "malformed", depth=0)
cert("doubledUsage", remade(direct, root.key, doubled(bytes.fromhex("0603551d25"))))
vector("another extension that stands there twice", "doubledUsage", "malformed", depth=0)

# MARK: What cannot be read

for label, der in (("truncated", leaf.der[:-1]), ("trailing", leaf.der + b"\0"), ("garbage", bytes(range(200))), ("nothing", b""),
                   ("text", b"-----BEGIN CERTIFICATE-----")):
    cert(label, Made(der, None))
    vector(f"not a certificate: {label}", [label, "middle"], "malformed")
    vector(f"not a certificate behind a good one: {label}", ["leaf", "middle", label], "malformed")
vector("no certificate at all", "", "malformed")

# MARK: Keys and signatures

for kind, expect in (("rsa1024", "weak_key"), ("rsa2047", "weak_key"), ("rsa2048", "accept"), ("p192", "weak_key"), ("p224", "weak_key"),
                     ("p256", "accept"), ("p384", "accept"), ("k256", "accept"), ("ed25519", "accept"), ("dsa", "weak_key")):
    label = f"keyed.{kind}"
    cert(label, make(f"keyed {kind}", root, names=GOOD, kind=kind))
    vector(f"a server's key: {kind}", label, expect, **({} if expect == "accept" else {"depth": 0}))
for kind, expect in (("rsa2047", "weak_key"), ("rsa2048", "accept"), ("p224", "weak_key"), ("ed25519", "accept")):
    own = make(f"Issuer {kind}", root, ca=True, kind=kind)
    cert(f"issuer.{kind}", own)
    cert(f"issued.{kind}", make("issued", own, names=GOOD))
    vector(f"an issuer's key: {kind}", f"issued.{kind} issuer.{kind}", expect, **({} if expect == "accept" else {"depth": 1}))
weak_root = cert("weakRoot", make("Weak root", ca=True, kind="rsa1024"))
cert("ofWeakRoot", make("of weak root", weak_root, names=GOOD))
vector("an anchor's key of 1024 bits", "ofWeakRoot", "weak_key", anchors=["weakRoot"], depth=1)
vector("RSA of 1024 bits where that is enough", "keyed.rsa1024", "accept", rsa=1024)
vector("RSA of 2048 bits where 2049 are needed", "keyed.rsa2048", "weak_key", rsa=2049, depth=0)
vector("a curve of 224 bits where that is enough", "keyed.p224", "accept", ec=224)
vector("a curve of 256 bits where 257 are needed", "leaf middle", "weak_key", ec=257, depth=0)
vector("RSA below the floor in the policy", "leaf middle", "fault:keySizeBelowFloor", rsa=1023)
vector("a curve below the floor in the policy", "leaf middle", "fault:keySizeBelowFloor", ec=159)

rsa_root = cert("rsaRoot", make("RSA root", ca=True, kind="rsa2048"))
for label, algorithm, digest in (("md5", 4, hashes.MD5()), ("sha1", 5, hashes.SHA1())):
    base = make(f"by {label}", rsa_root, names=GOOD, keyed="weakly signed")
    cert(f"by.{label}", with_digest(base, rsa_root.key, algorithm, digest))
    weak = make(f"By {label}", rsa_root, ca=True, keyed="weakly signed issuer")
    cert(f"issuerBy.{label}", with_digest(weak, rsa_root.key, algorithm, digest))
    cert(f"below.{label}", make("below", weak, names=GOOD))
    root_base = make(f"Root by {label}", ca=True, keyed="RSA root")
    cert(f"rootBy.{label}", with_digest(root_base, rsa_root.key, algorithm, digest))
    cert(f"belowRoot.{label}", make("below root", root_base, names=GOOD, keyed="below"))
    vector(f"signed over {label}", f"by.{label}", "weak_signature", anchors=["rsaRoot"], depth=0)
    vector(f"an issuer signed over {label}", f"below.{label} issuerBy.{label}", "weak_signature", anchors=["rsaRoot"], depth=1)
    vector(f"a root that signed itself over {label}", f"belowRoot.{label}", "accept", anchors=[f"rootBy.{label}"])
    vector(f"signed over {label} where that is not refused", f"by.{label}", "accept", anchors=["rsaRoot"],
           refused=[one for one in ("md5", "sha1") if one != label])
cert("ecdsaSHA1", remade(direct, root.key, lambda e: e, tlv(0x30, bytes.fromhex("06072a8648ce3d0401")), hashes.SHA1()))
vector("ECDSA over SHA-1", "ecdsaSHA1", "weak_signature", depth=0)
for digest in (hashes.SHA224(), hashes.SHA384(), hashes.SHA512()):
    cert(f"over.{digest.name}", make(f"over {digest.name}", root, names=GOOD, keyed="over", digest=digest))
    vector(f"signed over {digest.name}", f"over.{digest.name}", "accept")
vector("SHA-256 where it is refused", "leaf middle", "weak_signature", refused=["md5", "sha1", "sha256"], depth=0)

# MARK: What a certificate may do

for label, usages, expect in (("clientOnly", [ExtendedKeyUsageOID.CLIENT_AUTH], "wrong_usage"),
                              ("codeOnly", [ExtendedKeyUsageOID.CODE_SIGNING], "wrong_usage"),
                              ("bothUsages", [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH], "accept"),
                              ("noUsages", None, "accept"), ("answersOnly", [ExtendedKeyUsageOID.OCSP_SIGNING], "wrong_usage")):
    cert(label, make(label, root, names=GOOD, usages=usages, keyed="usage"))
    vector(f"usage: {label}", label, expect, **({} if expect == "accept" else {"depth": 0}))


def key_usage(**granted):
    every = dict.fromkeys(("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
                           "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(**{**every, **granted})


cert("signsOnly", make("signs only", root, names=GOOD, key_usage=key_usage(crl_sign=True), keyed="usage"))
vector("a server's key that may not sign a handshake", "signsOnly", "wrong_usage", depth=0)

for label, more, expect in (
        ("notCA", {"ca": False}, "wrong_usage"), ("noBasic", {"ca": True, "basic": None}, "wrong_usage"),
        ("noBasicNoUsage", {"ca": True, "basic": None, "key_usage": None}, "wrong_usage"),
        ("noCertSign", {"ca": True, "key_usage": key_usage(crl_sign=True)}, "wrong_usage"),
        ("noKeyUsage", {"ca": True, "key_usage": None}, "accept"),
        ("clientCA", {"ca": True, "extra": [(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False)]}, "wrong_usage"),
        ("serverCA", {"ca": True, "extra": [(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)]}, "accept")):
    issuer = cert(f"as.{label}", make(f"As {label}", root, keyed="as", **more))
    cert(f"by.{label}", make(f"by {label}", issuer, names=GOOD, keyed="by"))
    vector(f"an issuer: {label}", f"by.{label} as.{label}", expect, **({} if expect == "accept" else {"depth": 1}))
    if expect != "accept":
        vector(f"an issuer under a root that nobody knows: {label}", f"by.{label} as.{label}", expect, anchors=["otherRoot"],
               pins=pins("publicKey", f"key:by.{label}"), allow_untrusted_root=True, depth=1)
cert("byLeaf", make("by leaf", leaf, names=["victim.example.com"]))
vector("issued by a server's certificate", "byLeaf leaf middle", "wrong_usage", host="victim.example.com", depth=1)

path0 = cert("path0", make("Path 0", root, ca=True, path=0))
path1 = cert("path1", make("Path 1", root, ca=True, path=1))
for label, top, expect in (("path0", path0, "wrong_usage"), ("path1", path1, "accept")):
    below = cert(f"{label}.below", make(f"Below {label}", top, ca=True, keyed="path below"))
    cert(f"{label}.leaf", make("path leaf", below, names=GOOD))
    vector(f"one intermediate below a path length: {label}", f"{label}.leaf {label}.below {label}", expect,
           **({} if expect == "accept" else {"depth": 2}))
    below2 = cert(f"{label}.below2", make(f"Below 2 {label}", below, ca=True, keyed="path below 2"))
    cert(f"{label}.leaf2", make("path leaf 2", below2, names=GOOD))
    vector(f"two intermediates below a path length: {label}", f"{label}.leaf2 {label}.below2 {label}.below {label}", "wrong_usage", depth=3)
cert("serverCA.own", make("server and authority", root, ca=True, names=GOOD, key_usage=key_usage(digital_signature=True, key_cert_sign=True)))
vector("an authority's certificate as a server's", "serverCA.own", "accept")

unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.55555.1"), b"\x05\x00")
for label, critical, expect in (("unknownCritical", True, "critical_extension"), ("unknownExtension", False, "accept")):
    cert(label, make(label, root, names=GOOD, extra=[(unknown, critical)], keyed="unknown"))
    vector(f"an extension nobody knows: {label}", label, expect, **({} if expect == "accept" else {"depth": 0}))
issuer = cert("unknownIssuer", make("Unknown issuer", root, ca=True, extra=[(unknown, True)]))
cert("byUnknownIssuer", make("by unknown", issuer, names=GOOD, keyed="unknown"))
vector("a critical extension nobody knows in an issuer", "byUnknownIssuer unknownIssuer", "critical_extension", depth=1)
vector("a critical extension nobody knows, the key pinned", "unknownCritical", "critical_extension",
       pins=pins("publicKey", "key:unknownCritical"), allow_untrusted_root=True, depth=0)

# MARK: Name constraints

permitted = cert("permitted", make("Permitted", root, ca=True, constraints=(["inside.example.com"], [])))
excluded = cert("excluded", make("Excluded", root, ca=True, constraints=([], ["secret.example.com"])))
addressed = cert("addressed", make("Addressed", root, ca=True, constraints=(["192.0.2.0/24"], [])))
for label, issuer, names, host, expect in (
        ("inside", "permitted", ["inside.example.com"], None, "accept"), ("below", "permitted", ["a.inside.example.com"], None, "accept"),
        ("outside", "permitted", GOOD, None, "name_constraint"), ("alike", "permitted", ["xinside.example.com"], None, "name_constraint"),
        ("oneOutside", "permitted", ["inside.example.com", "good.example.com"], "inside.example.com", "name_constraint"),
        ("star", "permitted", ["*.inside.example.com"], "a.inside.example.com", "accept"),
        ("notExcluded", "excluded", GOOD, None, "accept"), ("excludedName", "excluded", ["secret.example.com"], None, "name_constraint"),
        ("belowExcluded", "excluded", ["a.secret.example.com"], None, "name_constraint"),
        ("rightAddress", "addressed", ["192.0.2.255"], None, "accept"), ("wrongAddress", "addressed", ["192.0.3.0"], None, "name_constraint")):
    cert(f"constrained.{label}", make(f"constrained {label}", certificates[issuer], names=names, keyed="constrained"))
    vector(f"constraint: {label}", f"constrained.{label} {issuer}", expect, host=host or names[0],
           **({} if expect == "accept" else {"depth": 0}))
constrained_root = cert("constrainedRoot", make("Constrained root", ca=True, constraints=(["inside.example.com"], [])))
cert("ofConstrainedRoot", make("of constrained root", constrained_root, names=GOOD))
vector("a constraint in the anchor", "ofConstrainedRoot", "name_constraint", anchors=["constrainedRoot"], depth=0)

# MARK: Pins

vector("pin of the server's key", "leaf middle", "accept", pins=pins("publicKey", "key:leaf"), pin="leaf")
vector("pin of the intermediate's key", "leaf middle", "accept", pins=pins("publicKey", "key:middle"), pin="middle")
vector("pin of the root's key", "leaf middle", "accept", pins=pins("publicKey", "key:root"), pin="root")
vector("one of two pins", "leaf middle", "accept", pins=pins("publicKey", "key:otherLeaf", "key:leaf"), pin="leaf")
vector("pins of all: the server's is named", "leaf middle", "accept", pins=pins("publicKey", "key:root", "key:middle", "key:leaf"), pin="leaf")
vector("a pin of another key", "leaf middle", "pin_mismatch", pins=pins("publicKey", "key:otherLeaf"), depth=0)
vector("pins of other keys", "leaf middle", "pin_mismatch", pins=pins("publicKey", "key:otherLeaf", "key:otherRoot"), depth=0)
vector("a pinned key that was merely sent (T33)", "leaf middle otherLeaf", "pin_mismatch", pins=pins("publicKey", "key:otherLeaf"), depth=0)
vector("a pinned root that was merely sent (T33)", "leaf middle otherRoot", "pin_mismatch", pins=pins("publicKey", "key:otherRoot"), depth=0)
vector("a pinned certificate that was merely sent (T33)", "leaf middle otherLeaf", "pin_mismatch", pins=pins("certificate", "cert:otherLeaf"), depth=0)
vector("a pinned key, and nobody who vouches", "otherLeaf otherRoot", "untrusted_root", pins=pins("publicKey", "key:otherLeaf"), depth=1)
vector("a renewed certificate of the pinned key", "renewed middle", "accept", pins=pins("publicKey", "key:leaf"), pin="leaf")
vector("a renewed certificate where the old one is pinned", "renewed middle", "pin_mismatch", pins=pins("certificate", "cert:leaf"), depth=0)
vector("pin of the server's certificate", "leaf middle", "accept", pins=pins("certificate", "cert:leaf"), pin="leaf")
vector("pin of the intermediate", "leaf middle", "accept", pins=pins("certificate", "cert:middle"), pin="middle")
vector("pin of the root", "leaf middle", "accept", pins=pins("certificate", "cert:root"), pin="root")
vector("pin of another certificate", "leaf middle", "pin_mismatch", pins=pins("certificate", "cert:otherRoot"), depth=0)
vector("a right pin for another host", "leaf middle", "host_mismatch", host="other.example.com", pins=pins("publicKey", "key:leaf"), depth=0)
vector("a right pin, expired", "leaf middle", "expired", at=NOW + 31 * DAY, pins=pins("publicKey", "key:leaf"), depth=0)
vector("a right pin, expired as is allowed", "leaf middle", "accept", at=NOW + 31 * DAY, pins=pins("publicKey", "key:leaf"),
       allow_expired=True, allowed=["expired"], pin="leaf")
vector("a wrong pin, expired as is allowed", "leaf middle", "pin_mismatch", at=NOW + 31 * DAY, pins=pins("publicKey", "key:otherRoot"),
       allow_expired=True, depth=0)
vector("no pins", "leaf middle", "fault:emptyPins", pins=pins("publicKey"))
vector("no certificates to pin", "leaf middle", "fault:emptyPins", pins=pins("certificate"))
vector("no pins, and the anchors are to be they", "leaf middle", "fault:emptyPins", pins=pins("certificate"), anchors="pins")
vector("a digest where certificates are pinned", "leaf middle", "fault:pinWithoutCertificate", pins=pins("certificate", "key:leaf"))
vector("anchors are to be pins that are not there", "leaf middle", "fault:anchorsWithoutPins", anchors="pins")
vector("anchors are to be pins that are digests", "leaf middle", "fault:pinWithoutCertificate", anchors="pins", pins=pins("publicKey", "key:leaf"))

# Cross-signed: the pinned certificate stands in another chain than the first.
cross = cert("cross", make("Root", other_root, ca=True, keyed="Root"))
vector("the pinned root's other certificate was sent", "direct cross", "accept", anchors=["root", "otherRoot"],
       pins=pins("certificate", "cert:cross"), pin="cross")
vector("the pinned root behind a cross-signed one", "direct cross", "accept", anchors=["otherRoot"], pins=pins("certificate", "cert:root"), pin="root")

for label, chain in (("server's", "leaf"), ("intermediate", "leaf middle"), ("root", "leaf middle")):
    pinned = {"server's": "leaf", "intermediate": "middle", "root": "root"}[label]
    vector(f"the pins are the anchors: {label}", chain, "accept", anchors="pins", pins=pins("certificate", f"cert:{pinned}"), pin=pinned)
vector("the pins are the anchors: another's", "leaf middle root", "pin_mismatch", anchors="pins", pins=pins("certificate", "cert:otherRoot"), depth=0)
vector("the pins are the anchors: merely sent", "leaf middle otherLeaf", "pin_mismatch", anchors="pins", pins=pins("certificate", "cert:otherLeaf"), depth=0)
vector("the pins are the anchors: self-signed", "alone", "accept", anchors="pins", pins=pins("certificate", "cert:alone"), pin="alone")
vector("the pins are the anchors, keys are pinned", "alone", "accept", anchors="pins", pins=pins("publicKey", "cert:alone"), pin="alone")
vector("the pins are the anchors: another host", "alone", "host_mismatch", host="other.example.com", anchors="pins",
       pins=pins("certificate", "cert:alone"), depth=0)
vector("the pins are the anchors: expired", "alone", "expired", at=NOW + 31 * DAY, anchors="pins", pins=pins("certificate", "cert:alone"), depth=0)
vector("the pins are the anchors, only reported", "alone", "fault:anchorsWithoutBindingPins", anchors="pins",
       pins=pins("certificate", "cert:alone", enforcement="reported"))

# What binds when.
wrong = ("publicKey", "key:otherLeaf")
vector("a wrong pin, reported", "leaf middle", "accept", pins=pins(*wrong, enforcement="reported"), reported="pin_mismatch")
vector("a right pin, reported", "leaf middle", "accept", pins=pins("publicKey", "key:leaf", enforcement="reported"), pin="leaf")
vector("a wrong host, with pins reported", "leaf middle", "host_mismatch", host="other.example.com", pins=pins(*wrong, enforcement="reported"), depth=0)
vector("an untrusted root, with pins reported", "alone", "untrusted_root", pins=pins(*wrong, enforcement="reported"), depth=0)
for about, at, expect in (("the second before", NOW - 1, "accept"), ("the second", NOW, "pin_mismatch"), ("a second later", NOW + 1, "pin_mismatch")):
    vector(f"a wrong pin, enforced from a day on: {about}", "leaf middle", expect, at=at, pins=pins(*wrong, enforced_from=NOW),
           **({"reported": "pin_mismatch"} if expect == "accept" else {"depth": 0}))
for about, at, fails, reports in (("the last second", NOW, "pin_mismatch", "pin_mismatch"), ("a second later", NOW + 1, "empty_pins", "accept"),
                                  ("long after", NOW + 5 * DAY, "empty_pins", "accept")):
    vector(f"a wrong pin with an end, failing: {about}", "leaf middle", fails, at=at, pins=pins(*wrong, expires=NOW),
           **({"depth": 0} if fails == "pin_mismatch" else {}))
    vector(f"a wrong pin with an end, reporting: {about}", "leaf middle", reports, at=at, pins=pins(*wrong, expires=NOW, on_expiry="reports"),
           **({"reported": "pin_mismatch"} if reports == "accept" else {"depth": 0}))
vector("a right pin with an end, failing", "leaf middle", "empty_pins", at=NOW + 1, pins=pins("publicKey", "key:leaf", expires=NOW))
vector("a right pin with an end, reporting", "leaf middle", "accept", at=NOW + 1,
       pins=pins("publicKey", "key:leaf", expires=NOW, on_expiry="reports"), pin="leaf")

# MARK: AFNetworking's rules (AFSecurityPolicy), with our differences

keyed_alone = {"pins": pins("publicKey", "key:alone"), "allow_untrusted_root": True}
vector("AF 1: anything allowed by name needs pins", "alone", "fault:untrustedRootWithoutBindingPins", allow_untrusted_root=True)
vector("AF 1, ours: also without a name", "alone", "fault:untrustedRootWithoutBindingPins", allow_untrusted_root=True, validates_host=False)
vector("AF 1, ours: nor by pins that are only reported", "alone", "fault:untrustedRootWithoutBindingPins", allow_untrusted_root=True,
       pins=pins("publicKey", "key:alone", enforcement="reported"))
vector("AF 1, ours: nor by pins from a day on", "alone", "fault:untrustedRootWithoutBindingPins", allow_untrusted_root=True,
       pins=pins("publicKey", "key:alone", enforced_from=NOW - DAY))
vector("AF 1, ours: nor by pins that end in a report", "alone", "fault:untrustedRootWithoutBindingPins", allow_untrusted_root=True,
       pins=pins("publicKey", "key:alone", expires=NOW + DAY, on_expiry="reports"))
vector("AF 2: without a name, any host's", "leaf middle", "accept", host="other.example.com", validates_host=False)
vector("AF 3: no pins, valid by the system", "leaf middle", "accept")
vector("AF 3: no pins, not valid by the system", "alone", "untrusted_root", depth=0)
vector("AF 4: pinned, not valid by the system", "alone", "untrusted_root", pins=pins("publicKey", "key:alone"), depth=0)
vector("AF 4: certificate pinned, not valid by the system", "alone", "untrusted_root", pins=pins("certificate", "cert:alone"), depth=0)
vector("AF 5: the pinned certificate is the only anchor", "alone", "accept", pins=pins("certificate", "cert:alone"), allow_untrusted_root=True, pin="alone")
vector("AF 5: another certificate is the only anchor", "alone", "pin_mismatch", pins=pins("certificate", "cert:otherRoot"), allow_untrusted_root=True, depth=0)
vector("AF 5: valid by the system, not by the anchors", "leaf middle", "pin_mismatch", pins=pins("certificate", "cert:otherRoot"), allow_untrusted_root=True, depth=0)
vector("AF 5: pinned certificate, wrong host", "alone", "host_mismatch", host="other.example.com", pins=pins("certificate", "cert:alone"), allow_untrusted_root=True, depth=0)
vector("AF 5: pinned certificate, expired", "alone", "expired", at=NOW + 31 * DAY, pins=pins("certificate", "cert:alone"), allow_untrusted_root=True, depth=0)
vector("AF 5: below a pinned root that nobody knows", "otherLeaf otherRoot", "accept", pins=pins("certificate", "cert:otherRoot"), allow_untrusted_root=True, pin="otherRoot")
vector("AF 5: below a pinned root that was not sent", "otherLeaf", "accept", pins=pins("certificate", "cert:otherRoot"), allow_untrusted_root=True, pin="otherRoot")
vector("AF 6: a pinned key, self-signed", "alone", "accept", **keyed_alone, allowed=["untrusted_root"], pin="alone")
vector("AF 6: another key, self-signed", "alone", "pin_mismatch", pins=pins("publicKey", "key:leaf"), allow_untrusted_root=True, depth=0)
vector("AF 6: a pinned root's key that nobody knows", "otherLeaf otherRoot", "accept", pins=pins("publicKey", "key:otherRoot"),
       allow_untrusted_root=True, allowed=["untrusted_root"], pin="otherRoot")
vector("AF 6: a pinned server's key without its root", "otherLeaf", "accept", pins=pins("publicKey", "key:otherLeaf"),
       allow_untrusted_root=True, allowed=["incomplete_chain"], pin="otherLeaf")
vector("AF 6: the pinned key merely sent along", "otherLeaf otherRoot alone", "pin_mismatch", **keyed_alone, depth=0)
forged_alone = cert("forgedAlone", make("forged below alone", names=GOOD, issuer_name=name("alone"), signer=key("forger"), keyed="forger", authority_key=False))
vector("AF 6: as if issued by the pinned one", "forgedAlone alone", "wrong_usage", **keyed_alone, depth=1)
forged_root = cert("forgedRoot", make("forged below other", names=GOOD, issuer_name=name("Other root"), signer=key("forger"), keyed="forger", authority_key=False))
vector("AF 6: as if issued by the pinned root", "forgedRoot otherRoot", "bad_signature", pins=pins("publicKey", "key:otherRoot"), allow_untrusted_root=True, depth=0)
vector("AF 6, ours: the host is asked", "aloneOther", "host_mismatch", **keyed_alone, depth=0)
vector("AF 6, ours: the dates are asked", "alone", "expired", at=NOW + 31 * DAY, **keyed_alone, depth=0)
vector("AF 6, ours: also the first day", "alone", "not_yet_valid", at=NOW - 31 * DAY, **keyed_alone, depth=0)
vector("AF 6, ours: expired has a switch of its own", "alone", "accept", at=NOW + 31 * DAY, **keyed_alone, allow_expired=True,
       allowed=["expired", "untrusted_root"], pin="alone")
vector("AF 6, ours: the host has a switch of its own", "aloneOther", "accept", **keyed_alone, validates_host=False,
       allowed=["untrusted_root"], pin="alone")
vector("AF, ours: expired alone does not let in who is unknown", "alone", "untrusted_root", at=NOW + 31 * DAY, allow_expired=True, depth=0)
vector("AF 2.5.1: no pins is not everybody", "otherLeaf otherRoot", "untrusted_root", depth=1)
vector("AF 2.5.2: no pins, and the host is asked", "leaf middle", "host_mismatch", host="other.example.com", depth=0)
vector("AF 2.6.0: one pin of the chain is enough", "leaf middle", "accept", pins=pins("certificate", "cert:middle", "cert:otherRoot"), pin="middle")
vector("AF: a common name is no name any more", "commonName", "host_mismatch", depth=0)

# MARK: TLS's version

for version, least, expect in (("1.0", None, "weak_protocol"), ("1.1", None, "weak_protocol"), ("1.2", None, "accept"), ("1.3", None, "accept"),
                               ("1.2", "1.3", "weak_protocol"), ("1.3", "1.3", "accept"), ("1.1", "1.1", "accept"), ("1.0", "1.1", "weak_protocol")):
    vector(f"TLS {version} where {least or 'nothing'} is set", "leaf middle", expect, tls=version, **({"tls_floor": least} if least else {}))

# MARK: Lists (RFC 5280 §5)

for label, made in (("root", crl(root)), ("rootMiddleRevoked", crl(root, [middle])), ("middle", crl(middle)), ("middleLeafRevoked", crl(middle, [leaf])),
                    ("middleOld", crl(middle, start=NOW - 9 * DAY, end=NOW - 1)), ("middleOldRevoked", crl(middle, [leaf], NOW - 9 * DAY, NOW - 1)),
                    ("middleEarly", crl(middle, start=NOW + 1, end=NOW + 9 * DAY)), ("middleForged", crl(middle, signer=key("forger"))),
                    ("middleLastSecond", crl(middle, end=NOW + 1)), ("middleFirstSecond", crl(middle, start=NOW)), ("rootDirectRevoked", crl(root, [direct]))):
    lists[label] = made
for about, of, soft, hard in (
        ("nobody is revoked", ["root", "middle"], "accept", "accept"), ("the server is", ["root", "middleLeafRevoked"], "revoked", "revoked"),
        ("the intermediate is", ["rootMiddleRevoked", "middle"], "revoked", "revoked"),
        ("one list is missing", ["root"], "accept+", "revocation_unknown"), ("the issuer's is missing", ["middle"], "accept+", "revocation_unknown"),
        ("another's only, who revokes", ["middleLeafRevoked"], "revoked", "revoked"),
        ("the list is old", ["root", "middleOld"], "accept+", "revocation_unknown"),
        ("the list is of tomorrow", ["root", "middleEarly"], "accept+", "revocation_unknown"),
        ("in the list's first second", ["root", "middleFirstSecond"], "accept", "accept"),
        ("in the second before the list's end", ["root", "middleLastSecond"], "accept", "accept"),
        ("the list is another's", ["root", "middleForged"], "revocation_unknown", "revocation_unknown"),
        ("an old list revokes", ["root", "middleOldRevoked"], "revoked", "revocation_unknown")):
    for check, expect in (("soft", soft), ("hard", hard)):
        told = {"allowed": ["revocation_unknown"]} if expect == "accept+" else {}
        vector(f"lists, {check}: {about}", "leaf middle", expect.rstrip("+"), lists=of, list_check=check, **told)
vector("lists, off: the server is revoked", "leaf middle", "accept", lists=["root", "middleLeafRevoked"], list_check="off")
vector("lists, hard: revoked by the anchor itself", "direct", "revoked", lists=["rootDirectRevoked"], list_check="hard", depth=0)
vector("lists, hard: the anchor is an intermediate", "leaf", "accept", anchors=["middle"], lists=["middle"], list_check="hard")
vector("lists, hard: the anchor is the server's own", "alone", "revocation_unknown", anchors=["alone"], lists=["root"], list_check="hard", depth=0)
vector("lists, hard, and none is given", "leaf middle", "fault:revocationWithoutLists", list_check="hard")
vector("lists, soft, and none is given", "leaf middle", "fault:revocationWithoutLists", list_check="soft")
vector("revoked, the pin right", "leaf middle", "revoked", lists=["root", "middleLeafRevoked"], list_check="soft", pins=pins("publicKey", "key:leaf"), depth=0)

# MARK: The stapled response (RFC 6960)

responder = cert("responder", make("Responder", middle, usages=[ExtendedKeyUsageOID.OCSP_SIGNING], keyed="responder"))
no_usage = make("No responder", middle, keyed="no responder")
old = make("Old responder", middle, usages=[ExtendedKeyUsageOID.OCSP_SIGNING], keyed="old responder", end=NOW - 1)
foreign = make("Foreign responder", other_root, usages=[ExtendedKeyUsageOID.OCSP_SIGNING], keyed="foreign responder")
for label, answer, soft, hard in (
        ("good", staple(leaf, middle), "accept", "accept"), ("revoked", staple(leaf, middle, "revoked"), "revoked", "revoked"),
        ("unknown", staple(leaf, middle, "unknown"), "accept+", "revocation_unknown"),
        ("goodSHA256", staple(leaf, middle, digest=hashes.SHA256), "accept", "accept"),
        ("old", staple(leaf, middle, start=NOW - 9 * DAY, end=NOW - 1), "accept+", "revocation_unknown"),
        ("lastSecond", staple(leaf, middle, end=NOW), "accept", "accept"), ("firstSecond", staple(leaf, middle, start=NOW), "accept", "accept"),
        ("early", staple(leaf, middle, start=NOW + 1), "accept+", "revocation_unknown"),
        ("endless", staple(leaf, middle, end=None), "accept+", "revocation_unknown"),
        ("anothers", staple(renewed, middle), "accept+", "revocation_unknown"),
        ("anothersRevoked", staple(renewed, middle, "revoked"), "accept+", "revocation_unknown"),
        ("forged", changed_last(staple(leaf, middle)), "accept+", "revocation_unknown"),
        ("forgedRevoked", changed_last(staple(leaf, middle, "revoked")), "accept+", "revocation_unknown"),
        ("byResponder", staple(leaf, middle, responder=responder), "accept", "accept"),
        ("revokedByResponder", staple(leaf, middle, "revoked", responder=responder), "revoked", "revoked"),
        ("byNobody", staple(leaf, middle, responder=no_usage), "accept+", "revocation_unknown"),
        ("byOldResponder", staple(leaf, middle, responder=old), "accept+", "revocation_unknown"),
        ("byForeigner", staple(leaf, middle, responder=foreign), "accept+", "revocation_unknown"),
        ("oldRevoked", staple(leaf, middle, "revoked", start=NOW - 9 * DAY, end=NOW - 1), "revoked", "revoked"),
        ("refused", ocsp.OCSPResponseBuilder.build_unsuccessful(ocsp.OCSPResponseStatus.TRY_LATER).public_bytes(serialization.Encoding.DER),
         "accept+", "revocation_unknown"),
        ("garbage", b"\x30\x03\x0a\x01\x00", "accept+", "revocation_unknown"), ("trailing", staple(leaf, middle) + b"\0", "accept+", "revocation_unknown")):
    answers[label] = answer
    for check, expect in (("soft", soft), ("hard", hard)):
        told = {"allowed": ["revocation_unknown"]} if expect == "accept+" else {}
        vector(f"staple, {check}: {label}", "leaf middle", expect.rstrip("+"), staple=label, staple_check=check,
               **told, **({"depth": 0} if not expect.startswith("accept") else {}))
vector("staple, off: revoked", "leaf middle", "accept", staple="revoked")
vector("staple, soft: not sent", "leaf middle", "accept", staple_check="soft", allowed=["revocation_unknown"])
vector("staple, hard: not sent", "leaf middle", "revocation_unknown", staple_check="hard", depth=0)
cert("mustStaple", make("must staple", middle, names=GOOD, extra=[(x509.TLSFeature([x509.TLSFeatureType.status_request]), False)]))
vector("staple, soft: not sent by one that has to (RFC 7633)", "mustStaple middle", "revocation_unknown", staple_check="soft", depth=0)
vector("staple, off: not sent by one that has to", "mustStaple middle", "accept")

# MARK: Signed timestamps (RFC 6962)

entry = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), tlv(0x04, timestamps(2)))
cert("stamped", make("stamped", root, names=GOOD, extra=[(entry, False)]))
cert("badlyStamped", make("badly stamped", root, names=GOOD, extra=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), b"\x04\x01\x00"), False)]))
vector("timestamps: two in the certificate", "stamped", "accept", audit_timestamps=True, counted=2)
vector("timestamps: none", "direct", "accept", audit_timestamps=True, counted=0)
vector("timestamps: one in the handshake", "direct", "accept", audit_timestamps=True, timestamps=base64.b64encode(timestamps(1)).decode(), counted=1)
vector("timestamps: in both", "stamped", "accept", audit_timestamps=True, timestamps=base64.b64encode(timestamps(1)).decode(), counted=3)
vector("timestamps: not to be read", "badlyStamped", "accept", audit_timestamps=True, timestamps="AAE=", counted=0)
vector("timestamps: not asked", "stamped", "accept")

# MARK: Sets of policies

for listed, expect in ((["good.example.com"], "accept"), (["*.example.com"], "accept"), (["*.com"], "host_not_allowed"),
                       (["other.example.com"], "host_not_allowed"), (["example.com"], "host_not_allowed"), ([], "host_not_allowed"),
                       (["*.good.example.com"], "host_not_allowed"), (["other.example.com", "good.example.com"], "accept")):
    vector(f"only {', '.join(listed) or 'nobody'} may be reached", "leaf middle", expect, listed=listed)

# MARK: Writing

if __name__ == "__main__":
    used = {label for one in vectors for label in one["chain"]} | {label for one in vectors for label in one["policy"]["anchors"] if one["policy"]["anchors"] != "pins"}
    used |= {pin.split(":", 1)[1] for one in vectors for pin in one["policy"].get("pins", {}).get("of", []) if ":" in pin}
    encode = lambda der: base64.b64encode(der).decode()
    world = {
        "certificates": {label: encode(made.der) for label, made in certificates.items() if label in used},
        "lists": {label: encode(der) for label, der in lists.items()},
        "responses": {label: encode(der) for label, der in answers.items()},
        "keyDigests": {label: encode(hashlib.sha256(certificates[label].key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)).digest())
            for label in ("leaf", "root", "keyed.rsa2048", "keyed.ed25519", "keyed.p384")},
    }
    lines = ["{"]
    for section, entries in world.items():
        lines.append(f' "{section}": {{')
        lines.append(",\n".join(f"  {json.dumps(label)}: {json.dumps(text)}" for label, text in entries.items()))
        lines.append(" },")
    lines.append(' "vectors": [')
    lines.append(",\n".join("  " + json.dumps(one) for one in vectors))
    lines.append(" ]\n}")
    (pathlib.Path(__file__).parent / "vectors.json").write_text("\n".join(lines) + "\n")
    print(len(vectors), "vectors,", len(world["certificates"]), "certificates")
    for outcome, count in sorted(collections.Counter(one["expect"] for one in vectors).items()):
        print(f"{count:5} {outcome}")
