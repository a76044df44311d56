#!/usr/bin/env python3
"""Asks two other evaluators about every vector that they can express: the verifier of Python's cryptography (written in Rust,
sharing no code with OpenSSL's) and `openssl verify`. Who differs has to stand in agreed-differences.tsv with the reason.

    agree.py            judges, and fails on a difference that nobody explained or an explanation that nothing needs
"""
import base64
import collections
import datetime
import ipaddress
import json
import pathlib
import subprocess
import sys
import tempfile

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509 import verification

HERE = pathlib.Path(__file__).parent
WORLD = json.loads((HERE / "vectors.json").read_text())
DER = {label: base64.b64decode(text) for label, text in WORLD["certificates"].items()}
LISTS = {label: base64.b64decode(text) for label, text in WORLD["lists"].items()}


def spki(certificate):
    return certificate.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def holds_pin(vector, chain):
    """Whether a verified chain of certificates holds one of the vector's pins, by Python alone."""
    pins = vector["policy"]["pins"]
    pinned = [x509.load_der_x509_certificate(DER[one.split(":")[1]]) for one in pins["of"]]
    if pins["mode"] == "certificate":
        return any(one == other for one in chain for other in pinned)
    return any(spki(one) == spki(other) for one in chain for other in pinned)


def has_usual_pins(vector):
    return not set(vector["policy"].get("pins", {})) - {"mode", "of"}


def by_cryptography(vector):
    """`accept` or `refuse`; nothing for what it cannot express."""
    policy = vector["policy"]
    if set(policy) - {"anchors", "pins"} or not has_usual_pins(vector) or vector["expect"].startswith("fault:"):
        return None
    if policy["anchors"] == "pins" or {"tls", "listed"} & set(vector):
        return None
    try:
        chain = [x509.load_der_x509_certificate(DER[label]) for label in vector["chain"]]
        if not chain:
            return "refuse"
        store = verification.Store([x509.load_der_x509_certificate(DER[label]) for label in policy["anchors"]])
        host = vector["host"]
        try:
            subject = x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
        except ValueError:
            subject = x509.DNSName(host)
        moment = datetime.datetime.fromtimestamp(vector["at"], datetime.timezone.utc).replace(tzinfo=None)
        verifier = verification.PolicyBuilder().store(store).time(moment).build_server_verifier(subject)
        verified = verifier.verify(chain[0], chain[1:])
    except (ValueError, verification.VerificationError):
        return "refuse"
    if "pins" in policy and not holds_pin(vector, verified):
        return "refuse"
    return "accept"


def by_openssl(vector):
    """As `by_cryptography`, by the command line, which also knows lists, usages and no pins."""
    policy = vector["policy"]
    if set(policy) - {"anchors", "lists", "list_check", "validates_host"} or vector["expect"].startswith("fault:"):
        return None
    if {"tls", "listed"} & set(vector) or not vector["chain"] or policy.get("list_check") == "soft" or "\0" in vector["host"]:
        return None
    if not vector["host"] or vector["host"].startswith("["):
        return None
    with tempfile.TemporaryDirectory() as folder:
        def pem(label, kind, ders):
            path = pathlib.Path(folder) / label
            path.write_text("".join(
                f"-----BEGIN {kind}-----\n{base64.encodebytes(der).decode()}-----END {kind}-----\n" for der in ders))
            return str(path)

        command = ["openssl", "verify", "-partial_chain", "-purpose", "sslserver", "-verify_depth", "8", "-no-CApath", "-no-CAstore",
                   "-attime", str(vector["at"]), "-CAfile", pem("anchors", "CERTIFICATE", [DER[one] for one in policy["anchors"]])]
        if vector["chain"][1:]:
            command += ["-untrusted", pem("sent", "CERTIFICATE", [DER[one] for one in vector["chain"][1:]])]
        if policy.get("list_check") == "hard":
            command += ["-crl_check_all", "-CRLfile", pem("lists", "X509 CRL", [LISTS[one] for one in policy["lists"]])]
        if policy.get("validates_host", True):
            try:
                command += ["-verify_ip", str(ipaddress.ip_address(vector["host"]))]
            except ValueError:
                command += ["-verify_hostname", vector["host"]]
        command.append(pem("leaf", "CERTIFICATE", [DER[vector["chain"][0]]]))
        done = subprocess.run(command, capture_output=True)
        return "accept" if done.returncode == 0 else "refuse"


def main():
    explained = {}
    for line in (HERE / "agreed-differences.tsv").read_text().splitlines()[1:]:
        evaluator, about, why = line.split("\t")
        explained[evaluator, about] = why
    unexplained, needed = [], set()
    for evaluator, judge in (("cryptography", by_cryptography), ("openssl", by_openssl)):
        counts = collections.Counter()
        for vector in WORLD["vectors"]:
            found = judge(vector)
            ours = "accept" if vector["expect"] == "accept" else "refuse"
            if found is None:
                counts["cannot be expressed"] += 1
            elif found == ours:
                counts["agree"] += 1
            else:
                counts["differ"] += 1
                needed.add((evaluator, vector["about"]))
                if (evaluator, vector["about"]) not in explained:
                    unexplained.append((evaluator, vector["about"], vector["expect"], found))
        print(f"{evaluator}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    for one in unexplained:
        print("unexplained:", *one, sep="\t")
    for one in sorted(set(explained) - needed):
        print("explained in vain:", *one, sep="\t")
    return 1 if unexplained or set(explained) != needed else 0


if __name__ == "__main__":
    sys.exit(main())
