"""openssl, and a CA for the origins of a test."""

import ipaddress

from Tools.processes import output

NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*words, text=None):
    """What it writes to standard output."""
    return output(["openssl", *words], input=text)


class Authority:
    """Certifies the origins, and has nothing to do with Larder's CA."""

    def __init__(self, folder, days=2):
        self.folder, self.days, self.certificate, self.key = folder, str(days), folder / "origins.pem", folder / "origins.key"
        openssl("req", "-x509", *NEW_KEY, "-subj", "/CN=The origins' authority", "-days", self.days, "-keyout", self.key, "-out",
                self.certificate)

    def certify(self, *hosts, name=None):
        """Paths of a certificate for these names and addresses, and of its key. The files are named after `name` or the first host."""
        name = name or hosts[0]
        certificate, key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        names = ",".join(f"{'IP' if is_address(host) else 'DNS'}:{host}" for host in hosts)
        extensions = self.folder / f"{name}.extensions"
        extensions.write_text(f"subjectAltName=critical,{names}\nextendedKeyUsage=serverAuth\n")
        request = openssl("req", *NEW_KEY, "-subj", "/", "-keyout", key)
        certificate.write_bytes(openssl("x509", "-req", "-CA", self.certificate, "-CAkey", self.key, "-days", self.days, "-extfile", extensions,
                                        text=request))
        return certificate, key


def is_address(host):
    try:
        return bool(ipaddress.ip_address(host))
    except ValueError:
        return False
