"""The profile of Larder's certificates: see certificate-profile.sh.

Each leaf is one that a client is shown in a tunnel. Every rule is a sentence that is false or true of a certificate; the rules are tried
on certificates that break them first, since a rule that finds nothing is none.
"""

import datetime
import hashlib
import ipaddress
import re
import shutil
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor

import der
from Tools.certificates import NEW_KEY, openssl
from Tools.checks import check, finish
from Tools.larder import LARDER, WORK, Larder
from Tools.processes import output

MANY = 300
DAY = datetime.timedelta(days=1)
ECDSA_SHA256, PUBLIC_KEY, P256 = "1.2.840.10045.4.3.2", "1.2.840.10045.2.1", "1.2.840.10045.3.1.7"
SUBJECT_KEY, KEY_USAGE, NAMES, BASIC, CONSTRAINTS, AUTHORITY_KEY, EXTENDED = (f"2.5.29.{n}" for n in (14, 15, 17, 19, 30, 35, 37))
SERVERS = "1.3.6.1.5.5.7.3.1"
DIGITAL_SIGNATURE, CERTIFICATE_SIGN, LIST_SIGN = 0, 5, 6
LONGEST = ".".join(["a" * 63] * 3 + ["b" * 56]) + ".test"
LABEL = "c" * 63 + ".test"


class Certificate:
    """The parts of one, by RFC 5280 §4.1."""

    def __init__(self, octets):
        self.octets, self.whole = octets, der.read(octets)
        self.signed, self.algorithm, self.signature = self.whole.parts
        fields = list(self.signed.parts)
        self.version = der.integer(fields.pop(0)[0]) if fields[0].tag == 0xA0 else 0
        self.serial, self.inner_algorithm, self.issuer, self.validity, self.subject, self.key = fields[:6]
        self.unique = [field for field in fields[6:] if field.tag != 0xA3]
        listed = [field[0].parts for field in fields[6:] if field.tag == 0xA3]
        self.listed = listed[0] if listed else []
        self.first, self.last = (der.moment(time) for time in self.validity.parts)

    @property
    def extensions(self):
        """By identifier: whether it is critical, and its value."""
        return {der.identifier(one[0]): (len(one) == 3, der.read(one.parts[-1].octets)) for one in self.listed}

    def extension(self, name):
        return self.extensions.get(name, (None, None))

    @property
    def names(self):
        """Of subjectAltName, each with its tag."""
        _, value = self.extension(NAMES)
        return [(part.tag, part.octets) for part in value.parts] if value else []

    @property
    def key_identifier(self):
        return hashlib.sha1(self.key[1].octets[1:]).digest()


def is_host_name(octets):
    """LDH labels (RFC 5890 §2.3.1), and the underscore, which Larder certifies as hosts have it; no star, no dot at the end."""
    labels = octets.decode("latin-1").split(".")
    return len(octets) <= 253 and all(re.fullmatch(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", label) for label in labels)


def is_a_label_where_needed(octets):
    for label in octets.decode("ascii").split("."):
        if label.startswith("xn--"):
            if label[4:].encode().decode("punycode").encode("punycode").decode() != label[4:]:
                return False
        elif label[2:4] == "--":
            return False
    return True


# MARK: Rules, each a sentence and what holds of a certificate

def extended(name, holds):
    return lambda c, *_: holds(*c.extension(name))


BOTH = [
    ("its DER, written again, is the same", lambda c: c.whole.encoded == c.octets),
    ("its version is 3 (§4.1.2.1)", lambda c: c.version == 2),
    ("it has no unique identifiers (§4.1.2.8)", lambda c: not c.unique),
    ("its serial number is positive, of 8 to 20 octets (§4.1.2.2)",
     lambda c: der.integer(c.serial) > 0 and 8 <= len(c.serial.octets) <= 20),
    ("both signature algorithms are ECDSA with SHA-256, without parameters (§4.1.1.2, RFC 5758 §3.2)",
     lambda c: c.algorithm.encoded == c.inner_algorithm.encoded and len(c.algorithm) == 1
     and der.identifier(c.algorithm[0]) == ECDSA_SHA256),
    ("its key is on P-256, not compressed (RFC 5480 §2.2)",
     lambda c: [der.identifier(part) for part in c.key[0].parts] == [PUBLIC_KEY, P256] and c.key[1].octets[:2] == b"\0\4"
     and len(c.key[1].octets) == 66),
    ("no extension stands twice (§4.2)", lambda c: len(c.extensions) == len(c.listed)),
    ("its last second is not before its first", lambda c: c.first <= c.last),
]
ROOT = [
    ("it is its own issuer, and its name is not empty (§4.1.2.4, §4.1.2.6)",
     lambda c: len(c.subject) and c.issuer.encoded == c.subject.encoded),
    ("it is CA:TRUE, critical, with no other authority below it (§4.2.1.9)",
     extended(BASIC, lambda critical, value: critical and value[0].octets == b"\xff" and der.integer(value[1]) == 0)),
    ("its key usage is keyCertSign, with cRLSign at most, critical (§4.2.1.3)",
     extended(KEY_USAGE, lambda critical, value: critical and der.named_bits(value) in ([CERTIFICATE_SIGN], [CERTIFICATE_SIGN, LIST_SIGN]))),
    ("its subject key identifier is its key's, not critical (§4.2.1.2)",
     lambda c: c.extension(SUBJECT_KEY)[0] is False and c.extension(SUBJECT_KEY)[1].octets == c.key_identifier),
    ("it has no names", lambda c: not c.names),
    ("it has begun a day ago", lambda c: abs(now() - c.first - DAY) < datetime.timedelta(minutes=5)),
]
LEAF = [
    ("its subject is empty, and subjectAltName critical for that (§4.1.2.6, §4.2.1.6)",
     lambda c: len(c.subject) == 0 and c.extension(NAMES)[0] is True),
    ("it has one name, a DNS name or an address (baseline 7.1.2.7.12)", lambda c: [tag for tag, _ in c.names] in ([0x82], [0x87])),
    ("its DNS name is LDH, in lower case, at most 253 octets, without star and final dot",
     lambda c: all(is_host_name(octets) for tag, octets in c.names if tag == 0x82)),
    ("and IDNs are A-labels (§7.2)", lambda c: all(is_a_label_where_needed(octets) for tag, octets in c.names if tag == 0x82)),
    ("its address is of 4 or 16 octets (§4.2.1.6)", lambda c: all(len(octets) in (4, 16) for tag, octets in c.names if tag == 0x87)),
    ("no address stands as a DNS name", lambda c: not any(is_address(octets) for tag, octets in c.names if tag == 0x82)),
    ("its key usage is digitalSignature alone, critical (§4.2.1.3)",
     extended(KEY_USAGE, lambda critical, value: critical and der.named_bits(value) == [DIGITAL_SIGNATURE])),
    ("it is for servers alone (§4.2.1.12)",
     extended(EXTENDED, lambda critical, value: [der.identifier(part) for part in value.parts] == [SERVERS])),
    ("it is no authority's, and says so as DER does: by nothing (§4.2.1.9)", extended(BASIC, lambda critical, value: len(value) == 0)),
    ("it has no other extensions", lambda c: c.extensions.keys() == {NAMES, KEY_USAGE, EXTENDED, BASIC, AUTHORITY_KEY}),
    ("it is good for 150 days at most, both ends counted", lambda c: c.last - c.first + datetime.timedelta(seconds=1) <= 150 * DAY),
]
OF_ROOT = [
    ("its issuer is the root", lambda c, root: c.issuer.encoded == root.subject.encoded),
    ("its authority key identifier is the root's, alone, not critical (§4.2.1.1)",
     lambda c, root: c.extension(AUTHORITY_KEY)[0] is False and [(part.tag, part.octets) for part in c.extension(AUTHORITY_KEY)[1].parts] == [
         (0x80, root.extension(SUBJECT_KEY)[1].octets)]),
    ("it lasts no longer than the root, and begins no sooner", lambda c, root: root.first <= c.first and c.last <= root.last),
    ("its key is not the root's", lambda c, root: c.key.encoded != root.key.encoded),
]


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def is_address(octets):
    try:
        return bool(ipaddress.ip_address(octets.decode("latin-1")))
    except ValueError:
        return False


def broken(certificate, rules, *others):
    """The sentences that do not hold."""
    def holds(rule):
        try:
            return rule(certificate, *others)
        except (der.Fault, IndexError, TypeError, AttributeError, UnicodeError, ValueError):
            return False
    return [sentence for sentence, rule in rules if not holds(rule)]


def verify(leaf, root, host, *options):
    """What is wrong with it by OpenSSL."""
    for name, certificate in [("leaf", leaf), ("root", root)]:
        (WORK / f"{name}.verified").write_bytes(openssl("x509", "-inform", "der", text=certificate.octets))
    way = "-verify_ip" if is_address(host.encode()) else "-verify_hostname"
    said = subprocess.run(["openssl", "verify", "-x509_strict", "-purpose", "sslserver", way, host, "-CAfile", WORK / "root.verified",
                           *options, WORK / "leaf.verified"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if said.returncode == 0 else said.stdout


# MARK: Through CONNECT

class Refused(Exception):
    pass


def shown(larder, authority, name=None):
    """The certificate in a tunnel to the authority, for a client that names the host (SNI)."""
    octets = authority if isinstance(authority, bytes) else authority.encode("ascii")
    with socket.create_connection(("127.0.0.1", larder.port), 30) as connection:
        connection.sendall(b"CONNECT %b:443 HTTP/1.1\r\nHost: %b:443\r\n\r\n" % (octets, octets))
        answer = connection.recv(4096).decode("latin-1")
        if not answer.startswith("HTTP/1.1 200 "):
            fields = dict(line.lower().split(": ", 1) for line in answer.split("\r\n\r\n")[0].split("\r\n")[1:])
            raise Refused(f"{answer[9:12]} {fields.get('proxy-status', '').partition('; ')[2]}")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with context.wrap_socket(connection, server_hostname=name) as session:
                return Certificate(session.getpeercert(True))
        except ssl.SSLError as error:
            raise Refused(f"alert {error.reason}") from None


def refusal(larder, authority, name=None):
    try:
        shown(larder, authority, name)
    except Refused as refused:
        return str(refused)
    return "shown a certificate"


class Intercepting(Larder):
    """With an authority of its own; nobody is asked but for certificates."""

    def __init__(self, name, *words, before=()):
        self.folder = WORK / name
        output([*before, LARDER, "ca", "init", "--folder", self.folder, *words])
        super().__init__(":memory:", f"tls.authority.folder={self.folder}", "tls.default.connect=intercept", before=before)
        self.root = Certificate(openssl("x509", "-in", self.folder / "current" / "root.pem", "-outform", "der"))


# MARK: The rules are tried first

def made(extensions, subject="/", days=10, digest="-sha256"):
    """A certificate of OpenSSL's, with what a rule is there to find."""
    (WORK / "extensions").write_text(extensions)
    request = openssl("req", *NEW_KEY, "-subj", subject, "-keyout", WORK / "made.key")
    return Certificate(openssl("x509", "-req", "-CA", WORK / "made-root.pem", "-CAkey", WORK / "made-root.key", "-days", days, digest,
                               "-extfile", WORK / "extensions", "-outform", "der", text=request))


def try_rules():
    openssl("req", "-x509", *NEW_KEY, "-subj", "/CN=Root", "-days", "5", "-keyout", WORK / "made-root.key", "-out", WORK / "made-root.pem")
    root = Certificate(openssl("x509", "-in", WORK / "made-root.pem", "-outform", "der"))
    good = {"subjectAltName": "critical,DNS:a.test", "keyUsage": "critical,digitalSignature", "extendedKeyUsage": "serverAuth",
            "basicConstraints": "critical,CA:FALSE", "authorityKeyIdentifier": "keyid:always", "subjectKeyIdentifier": "none"}
    faults = {
        "another digest": ({}, {"digest": "-sha384"}), "a subject": ({}, {"subject": "/CN=a.test"}), "151 days": ({}, {"days": 151}),
        "names that are not critical": ({"subjectAltName": "DNS:a.test"}, {}),
        "two names": ({"subjectAltName": "critical,DNS:a.test,DNS:b.test"}, {}),
        "a star": ({"subjectAltName": "critical,DNS:*.a.test"}, {}), "capitals": ({"subjectAltName": "critical,DNS:A.test"}, {}),
        "a final dot": ({"subjectAltName": "critical,DNS:a.test."}, {}),
        "a label of 64": ({"subjectAltName": f"critical,DNS:{'a' * 64}.test"}, {}),
        "a name of 254": ({"subjectAltName": f"critical,DNS:a{LONGEST}"}, {}),
        "no A-label": ({"subjectAltName": "critical,DNS:xn--0.test"}, {}),
        "an address as a name": ({"subjectAltName": "critical,DNS:192.0.2.1"}, {}),
        "key agreement": ({"keyUsage": "critical,digitalSignature,keyAgreement"}, {}),
        "usage that is not critical": ({"keyUsage": "digitalSignature"}, {}),
        "clients": ({"extendedKeyUsage": "serverAuth,clientAuth"}, {}), "an authority": ({"basicConstraints": "critical,CA:TRUE"}, {}),
        "the issuer's name": ({"authorityKeyIdentifier": "keyid:always,issuer:always"}, {}),
        "no identifier": ({"authorityKeyIdentifier": "none"}, {}),
        "another extension": ({"tlsfeature": "status_request"}, {}),
    }

    def faults_of(changes, options):
        text = "".join(f"{name}={value}\n" for name, value in {**good, **changes}.items())
        certificate = made(text, **options)
        return broken(certificate, BOTH + LEAF) + broken(certificate, OF_ROOT, root)

    # It lasts longer than its root, which is five days old at the end.
    longer = "it lasts no longer than the root, and begins no sooner"
    check(faults_of({}, {}) == [longer], "what OpenSSL makes by the same terms breaks no rule but that it outlasts its root")
    check(faults_of({}, {"days": 2}) == [], "nor that one where it does not")
    unseen = [what for what, changes in faults.items() if not set(faults_of(*changes)) - {longer}]
    check(not unseen, f"{len(faults)} certificates that break a rule are found{': not ' + ', '.join(unseen) if unseen else ''}")


# MARK: Larder's

def judge(what, leaf, root, host, *options):
    faults = broken(leaf, BOTH + LEAF) + broken(leaf, OF_ROOT, root)
    expected = [(0x87, ipaddress.ip_address(host).packed) if is_address(host.encode()) else (0x82, host.encode())]
    if leaf.names != expected:
        faults.append(f"its name is {leaf.names}")
    check(not faults, f"{what}: the profile{': ' + '; '.join(faults) if faults else ''}")
    said = verify(leaf, root, host, *options)
    check(not said, f"{what}: openssl verify -x509_strict{': ' + said if said else ''}")


def judge_serials(leaves):
    serials = [der.integer(leaf.serial) for leaf in leaves]
    check(len(set(serials)) == len(serials), f"{len(serials)} serial numbers are all different")
    shares = [sum(serial >> bit & 1 for serial in serials) / len(serials) for bit in range(160)]
    # Of a bit that is chance some half of so many are set: five standard deviations on either side.
    margin = 2.5 / len(serials) ** 0.5
    chance = sum(abs(share - 0.5) < margin for share in shares)
    check(chance >= 64, f"{chance} bits of them are chance")


def main():
    try_rules()
    larder = Intercepting("ca")
    root = larder.root
    faults = broken(root, BOTH + ROOT)
    check(not faults, f"the root: the profile{': ' + '; '.join(faults) if faults else ''}")
    check(root.extension(CONSTRAINTS) == (None, None), "the root: no constraints where none were asked for")

    hosts = {  # What CONNECT names, what the client names, and who is certified.
        "a name": ("www.origin.test", "www.origin.test", "www.origin.test"),
        "a name in capitals": ("WWW.Origin.TEST", "www.origin.test", "www.origin.test"),
        "a name with a final dot": ("www.origin.test.", "www.origin.test", "www.origin.test"),
        "one label": ("intranet", "intranet", "intranet"),
        "an underscore": ("a_b.test", "a_b.test", "a_b.test"),
        "a name of 253 octets": (LONGEST, LONGEST, LONGEST),
        "a label of 63 octets": (LABEL, LABEL, LABEL),
        "an IDN in A-labels": ("xn--bcher-kva.test", "xn--bcher-kva.test", "xn--bcher-kva.test"),
        "an IDN in U-labels, by a client that makes A-labels of them": (
            "bücher.test".encode("idna").decode(), "bücher.test", "xn--bcher-kva.test"),
        "an IPv4 address": ("192.0.2.7", None, "192.0.2.7"),
        "an IPv6 address": ("[2001:db8::7]", None, "2001:db8::7"),
        "an IPv6 address at length": ("[2001:DB8:0:0:0:0:0:7]", None, "2001:db8::7"),
    }
    for what, (authority, name, host) in hosts.items():
        try:
            leaf = shown(larder, authority, name)
            judge(what, leaf, root, host)
            check(abs(now() - leaf.first - DAY) < datetime.timedelta(minutes=5), f"{what}: begun a day ago")
        except Refused as refused:
            check(False, f"{what}: {refused}")

    with ThreadPoolExecutor(8) as pool:
        leaves = list(pool.map(lambda number: shown(larder, f"h{number}.origin.test", f"h{number}.origin.test"), range(MANY)))
    worst = [fault for leaf in leaves for fault in broken(leaf, BOTH + LEAF) + broken(leaf, OF_ROOT, root)]
    check(not worst, f"{MANY} hosts: the profile{': ' + '; '.join(sorted(set(worst))) if worst else ''}")
    judge_serials([*leaves, root])

    bad = 'error=http_request_error; details="bad_url: malformed_host"'
    refused = {
        "a name of 254 octets": "a" + LONGEST, "a label of 64 octets": "c" + LABEL, "a wildcard": "*.origin.test", "a star alone": "*",
        "a wildcard within a label": "a*.origin.test", "an empty label": "a..test",
        "an IDN in U-labels, as octets": "bücher.test".encode(),
    }
    for what, authority in refused.items():
        said = refusal(larder, authority)
        check(said == f"400 {bad}", f"{what} is refused: {said}")
    check(refusal(larder, "www.origin.test", "other.test") == "alert TLSV1_UNRECOGNIZED_NAME",
          f"another name than CONNECT's is refused: {refusal(larder, 'www.origin.test', 'other.test')}")
    check(larder.stop() == 0, "Larder ended well")
    constrained()
    short_root()
    after_2050()


def constrained():
    larder = Intercepting("constrained", "--constrain", "corp.test", "--constrain", "10.0.0.0/8")
    root = larder.root
    faults = broken(root, BOTH + ROOT)
    check(not faults, f"a constrained root: the profile{': ' + '; '.join(faults) if faults else ''}")
    critical, value = root.extension(CONSTRAINTS)
    permitted = [(part[0].tag, part[0].octets) for part in value[0].parts]
    check(critical is True, "its name constraints are critical (§4.2.1.10)")
    check((0x82, b"corp.test") in permitted and (0x87, bytes([10, 0, 0, 0, 255, 0, 0, 0])) in permitted,
          f"and permit what was asked for: {permitted}")
    for what, (authority, name, host) in {"the domain itself": ("corp.test",) * 3, "a name within": ("a.b.corp.test",) * 3,
                                          "an address within": ("10.1.2.3", None, "10.1.2.3")}.items():
        try:
            judge(what, shown(larder, authority, name), root, host)
        except Refused as refused:
            check(False, f"{what}: {refused}")
    for what, (authority, name) in {"a name outside": ("origin.test",) * 2, "a name that ends alike": ("xcorp.test",) * 2,
                                    "an address outside": ("11.0.0.1", None), "an IPv6 address": ("[2001:db8::7]", None)}.items():
        said = refusal(larder, authority, name)
        check(said == "alert TLSV1_ALERT_ACCESS_DENIED", f"{what} is refused: {said}")
    larder.stop()


def short_root():
    larder = Intercepting("short", "--days", "3")
    leaf = shown(larder, "www.origin.test", "www.origin.test")
    judge("below a root of three days", leaf, larder.root, "www.origin.test")
    check(leaf.last == larder.root.last, "it ends with it")
    larder.stop()


def after_2050():
    """The year in which the form of times changes."""
    if not shutil.which("faketime"):
        print("left out: times from 2050 on (it needs faketime)")
        return
    # Not by faketime itself, which passes no signal on, as timeout does.
    clock = subprocess.run(["faketime", "-f", "@2049-12-01 00:00:00", "env"], check=True, stdout=subprocess.PIPE, text=True).stdout
    fake = [line for line in clock.splitlines() if line.startswith(("LD_PRELOAD=", "FAKETIME="))]
    larder = Intercepting("later", "--days", "3650", before=["env", *fake, "timeout", "600"])
    root, leaf = larder.root, shown(larder, "www.origin.test", "www.origin.test")
    check([time.tag for time in leaf.validity.parts] == [0x17, 0x18] and leaf.last.year == 2050,
          f"from 2049 to 2050: UTCTime, then GeneralizedTime: {[time.octets.decode() for time in leaf.validity.parts]}")
    check([time.tag for time in root.validity.parts] == [0x17, 0x18], "the root's too")
    judge("in 2049", leaf, root, "www.origin.test", "-attime", str(int(leaf.first.timestamp()) + 86_400))
    larder.stop()


main()
finish()
