"""Certificates, lists and answers of a small world of authorities, by Python's cryptography; what it refuses to make is made of DER."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, padding, rsa
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = 1_780_272_000  # 2026-06-01T00:00:00Z
DAY = 86_400
SERVER = [ExtendedKeyUsageOID.SERVER_AUTH]

keys = {}


def key(name, kind="p256"):
    """One key for each name, made when it is first asked for."""
    if name not in keys:
        makers = {
            "p192": lambda: ec.generate_private_key(ec.SECP192R1()),
            "p224": lambda: ec.generate_private_key(ec.SECP224R1()),
            "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
            "k256": lambda: ec.generate_private_key(ec.SECP256K1()),
            "ed25519": ed25519.Ed25519PrivateKey.generate,
            "dsa": lambda: dsa.generate_private_key(2048),
        }
        maker = makers.get(kind) or (lambda: rsa.generate_private_key(65537, int(kind.removeprefix("rsa"))))
        keys[name] = maker()
    return keys[name]


def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def name(common):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)] if common else [])


def general(text):
    """A name or an address; `dns:` in front makes a name of what looks like an address."""
    if text.startswith("dns:"):
        return x509.DNSName(text.removeprefix("dns:"))
    try:
        return x509.IPAddress(ipaddress.ip_network(text) if "/" in text else ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


class Made:
    def __init__(self, certificate, key):
        self.certificate = certificate
        self.key = key
        self.der = certificate if isinstance(certificate, bytes) else certificate.public_bytes(serialization.Encoding.DER)


serial = [1000]


def make(subject, issuer=None, *, names=None, ca=False, path=None, keyed=None, kind="p256", start=NOW - 30 * DAY,
         end=NOW + 30 * DAY, digest=None, usages=SERVER, key_usage="fit", extra=(), constraints=None, basic="fit",
         authority_key=True, signer=None, issuer_name=None):
    """Subject is the common name; issuer a Made, nothing for a self-signed one."""
    own = key(keyed or subject, kind)
    signing = signer or (issuer.key if issuer else own)
    issued_by = issuer_name or (issuer.certificate.subject if issuer else name(subject))
    serial[0] += 1
    builder = (x509.CertificateBuilder().subject_name(name(subject)).issuer_name(issued_by).public_key(own.public_key())
               .serial_number(serial[0]).not_valid_before(moment(start)).not_valid_after(moment(end)))
    if basic == "fit":
        builder = builder.add_extension(x509.BasicConstraints(ca, path if ca else None), critical=True)
    if authority_key:
        public = issuer.key.public_key() if issuer else own.public_key()
        builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), critical=False)
    if ca:
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
    if key_usage == "fit":
        builder = builder.add_extension(x509.KeyUsage(
            digital_signature=not ca, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=ca, crl_sign=ca, encipher_only=False, decipher_only=False), critical=True)
    elif key_usage:
        builder = builder.add_extension(key_usage, critical=True)
    if usages and not ca:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([general(one) for one in names]), critical=False)
    if constraints:
        permitted, excluded = constraints
        builder = builder.add_extension(x509.NameConstraints(
            [general(one) for one in permitted] or None, [general(one) for one in excluded] or None), critical=True)
    for extension, critical in extra:
        builder = builder.add_extension(extension, critical)
    if isinstance(signing, ed25519.Ed25519PrivateKey):
        return Made(builder.sign(signing, None), own)
    return Made(builder.sign(signing, digest or hashes.SHA256()), own)


# MARK: DER by hand

def tlv(tag, content):
    count = len(content)
    if count < 128:
        return bytes([tag, count]) + content
    octets = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(octets)]) + octets + content


def parts(der):
    """The elements inside of an element."""
    found, place, end = [], *content_range(der)
    while place < end:
        start, stop = content_range(der, place)
        found.append(der[place:stop])
        place = stop
    return found


def content_range(der, place=0):
    count, start = der[place + 1], place + 2
    if count & 0x80:
        octets = count & 0x7F
        count, start = int.from_bytes(der[start:start + octets], "big"), start + octets
    return start, start + count


def remade(made, signer, change, algorithm=None, digest=None):
    """The same certificate with `change` applied to the elements of what is signed, signed anew."""
    tbs, old_algorithm, _ = parts(made.der)
    elements = change(parts(tbs))
    algorithm = algorithm or old_algorithm
    elements[2] = algorithm
    tbs = tlv(0x30, b"".join(elements))
    digest = digest or hashes.SHA256()
    if isinstance(signer, rsa.RSAPrivateKey):
        signature = signer.sign(tbs, padding.PKCS1v15(), digest)
    else:
        signature = signer.sign(tbs, ec.ECDSA(digest))
    return Made(tlv(0x30, tbs + algorithm + tlv(0x03, b"\0" + signature)), made.key)


def with_digest(made, signer, rsa_algorithm, digest):
    """Signed with PKCS #1 1.5 under a digest that nobody signs with any more: 4 is MD5, 5 SHA-1."""
    algorithm = tlv(0x30, bytes.fromhex("06092a864886f70d0101") + bytes([rsa_algorithm]) + b"\x05\x00")
    return remade(made, signer, lambda elements: elements, algorithm, digest)


def names_der(*names):
    """A subjectAltName of raw names: (tag, octets)."""
    return x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.17"), tlv(0x30, b"".join(tlv(tag, raw) for tag, raw in names)))


def doubled(oid_der):
    """A change that puts the extension with this identifier there twice."""
    def change(elements):
        extensions = parts(parts(elements[-1])[0])
        extensions += [one for one in extensions if oid_der in one[:16]]
        return elements[:-1] + [tlv(0xA3, tlv(0x30, b"".join(extensions)))]
    return change


def with_dates(start, end):
    def change(elements):
        return elements[:4] + [tlv(0x30, start + end)] + elements[5:]
    return change


def changed_last(der):
    """The last bit of a signature turned."""
    return der[:-1] + bytes([der[-1] ^ 1])


# MARK: Revocation

def crl(issuer, revoked=(), start=NOW - DAY, end=NOW + DAY, signer=None):
    builder = (x509.CertificateRevocationListBuilder().issuer_name(issuer.certificate.subject)
               .last_update(moment(start)).next_update(moment(end))
               .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), False)
               .add_extension(x509.CRLNumber(1), False))
    for made in revoked:
        builder = builder.add_revoked_certificate(
            x509.RevokedCertificateBuilder().serial_number(made.certificate.serial_number)
            .revocation_date(moment(NOW - 2 * DAY)).build())
    return builder.sign(signer or issuer.key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def staple(leaf, issuer, status="good", start=NOW - DAY, end=NOW + DAY, responder=None, digest=hashes.SHA1):
    statuses = {"good": ocsp.OCSPCertStatus.GOOD, "revoked": ocsp.OCSPCertStatus.REVOKED, "unknown": ocsp.OCSPCertStatus.UNKNOWN}
    responder = responder or issuer
    builder = ocsp.OCSPResponseBuilder().add_response(
        cert=leaf.certificate, issuer=issuer.certificate, algorithm=digest(), cert_status=statuses[status],
        this_update=moment(start), next_update=moment(end) if end else None,
        revocation_time=moment(NOW - 2 * DAY) if status == "revoked" else None,
        revocation_reason=x509.ReasonFlags.key_compromise if status == "revoked" else None,
    ).responder_id(ocsp.OCSPResponderEncoding.HASH, responder.certificate)
    if responder is not issuer:
        builder = builder.certificates([responder.certificate])
    return builder.sign(responder.key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def timestamps(count):
    """A SignedTimestampList whose entries can be read; their signatures are nobody's."""
    one = bytes([0]) + bytes(range(32)) + (NOW * 1000).to_bytes(8, "big") + b"\0\0" + bytes([4, 3, 0, 8]) + bytes(8)
    entries = (len(one).to_bytes(2, "big") + one) * count
    return len(entries).to_bytes(2, "big") + entries
