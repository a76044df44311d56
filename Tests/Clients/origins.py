"""The servers: nginx, Apache and Python's, each plain and with TLS over one folder. What each was asked stands in its log."""

import grp
import os
import pwd
import shutil
import sys
import textwrap
import time
from pathlib import Path

from Tools.certificates import openssl
from Tools.origins import Nginx as NginxProcess, count_in_log
from Tools.processes import end, free_port, start, wait_for_port
from bench import HOST, run

AGE = 10 * 86_400


class Site:
    """The folder that is served, and a certificate that is its own authority."""

    def __init__(self, work):
        work.chmod(0o755)
        self.work, self.root = work, work / "root"
        self.root.mkdir(mode=0o755)
        self.key, self.ca = work / "origin.key", work / "origin.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}",
                "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", self.key, "-out", self.ca)

    @staticmethod
    def age(*paths):
        """Makes files older, and what is below folders: Python's server gives no lifetime, so that theirs follows from their age."""
        then = time.time() - AGE
        for path in paths:
            for file in [path, *path.rglob("*")]:
                os.utime(file, (then, then))


class Origin:
    needs, takes_ranges, smart_git = None, True, None

    def __init__(self, site):
        self.site, self.http, self.https = site, free_port(), free_port()
        self.work = site.work / self.name
        self.work.mkdir()
        self.log = self.work / "log"
        self.process = self.begin()
        for port in (self.http, self.https):
            wait_for_port(port, self.process)

    def url(self, scheme, path):
        return f"{scheme}://{HOST}:{self.https if scheme == 'https' else self.http}{path}"

    def asked(self, path):
        return count_in_log(self.log, path)

    def begin(self):
        return start(self.command())

    def stop(self):
        end(self.process)


class Nginx(Origin):
    """With an explicit lifetime."""

    name, needs = "nginx", "nginx"

    def begin(self):
        return NginxProcess(self.work, [], f"""
            types {{ text/html html; application/octet-stream bin; }} default_type application/octet-stream; access_log {self.log} combined;
            server {{ listen 127.0.0.1:{self.http}; listen 127.0.0.1:{self.https} ssl; server_name {HOST};
              ssl_certificate {self.site.ca}; ssl_certificate_key {self.site.key}; root {self.site.root};
              add_header Cache-Control "max-age=3600"; }}""", user=f"{user()} {group()}").process


class Apache(Origin):
    """With an explicit lifetime, and git's own program behind /smart/."""

    name, needs, smart_git = "apache", "apache2", "/smart"
    modules = Path("/usr/lib/apache2/modules")

    def command(self):
        w, backend = self.work, run(["git", "--exec-path"]).decode().strip() + "/git-http-backend" if shutil.which("git") else None
        smart = f"""
            ScriptAlias /smart/ {backend}/
            SetEnv GIT_PROJECT_ROOT {self.site.root}
            SetEnv GIT_HTTP_EXPORT_ALL 1
            # The folder may belong to another user than the server's.
            SetEnv GIT_CONFIG_COUNT 1
            SetEnv GIT_CONFIG_KEY_0 safe.directory
            SetEnv GIT_CONFIG_VALUE_0 *
            <Directory {os.path.dirname(backend)}>
              Require all granted
            </Directory>""" if backend else ""
        modules = ["mpm_event", "authz_core", "mime", "dir", "log_config", "headers", "unixd", "ssl", "alias", "env", "cgid"]
        (w / "types").write_text("text/html html\n")
        # Some are built in, which differs from one system to the next.
        load = "".join(f"<IfModule !{m}_module>\nLoadModule {m}_module {self.modules}/mod_{m}.so\n</IfModule>\n" for m in modules)
        (w / "apache.conf").write_text(load + textwrap.dedent(f"""
            ServerRoot {w}
            ServerName {HOST}
            PidFile {w}/pid
            ScriptSock {w}/cgi
            DefaultRuntimeDir {w}
            ErrorLog {w}/errors
            TypesConfig {w}/types
            User {user()}
            Group {group()}
            Listen 127.0.0.1:{self.http}
            Listen 127.0.0.1:{self.https} https
            LogFormat "%h %l %u %t \\"%r\\" %>s %b" common
            CustomLog {self.log} common
            DocumentRoot {self.site.root}
            <Directory {self.site.root}>
              Require all granted
              Header set Cache-Control max-age=3600
            </Directory>
            {smart}
            SSLSessionCache none
            <VirtualHost 127.0.0.1:{self.https}>
              SSLEngine on
              SSLCertificateFile {self.site.ca}
              SSLCertificateKeyFile {self.site.key}
            </VirtualHost>"""))
        return ["apache2", "-X", "-f", str(w / "apache.conf")]


class Python(Origin):
    """No lifetime: what follows from the files' age. No ranges, and HTTP/1.0."""

    name, takes_ranges = "python", False

    def command(self):
        script = Path(__file__).with_name("python_origin.py")
        return [sys.executable, str(script), str(self.site.root), str(self.site.ca), str(self.site.key), str(self.http),
                str(self.https), str(self.log)]

    def begin(self):
        return start(self.command(), env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])})


def user():
    """Whom a server that is started by root serves as: Apache refuses to be root."""
    return pwd.getpwuid(os.getuid()).pw_name if os.getuid() else "nobody"


def group():
    return grp.getgrgid(pwd.getpwnam(user()).pw_gid).gr_name


ALL = [Nginx, Apache, Python]
