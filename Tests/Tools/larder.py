"""A larder process on a port of its own, plain or intercepting. LARDER names the binary, and WORK a folder for what a harness writes."""

import os
import signal
import tempfile
from pathlib import Path

from Tools.measuring import memory
from Tools.processes import output, start, wait_until

# Harnesses that get them by their arguments have neither.
LARDER = os.environ.get("LARDER")
WORK = Path(os.environ["WORK"]) if "WORK" in os.environ else None


class Larder:
    """`settings` are values for --set. Without one that names them there is neither an access log nor an admin socket.

    `options` are further arguments, `before` is a command that starts it, such as strace, and `log` gets what it writes.
    """

    def __init__(self, store, *settings, loops=1, config=None, options=(), binary=LARDER, before=(), environment=None, log=None):
        defaults = [f"{name}=off" for name in ("admin.socket", "log.access.format")
                    if not any(setting.startswith(name.removesuffix(".format")) for setting in settings)]
        defaults += [f"loops={loops}"] if loops else []
        self.arguments = [*before, binary, "serve", "--quiet", *(["--config", config] if config else []), "--store", store,
                          *(word for setting in [*defaults, *settings] for word in ("--set", setting)), *options]
        self.environment, self.log, self.port = environment, log, 0
        self.start()

    def start(self):
        """Starts it, and again on the same port."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "port"
            self.process = start([*self.arguments, "--listen", f"127.0.0.1:{self.port}", "--port-file", file], env=self.environment,
                                 stdout=self.log, stderr=self.log)
            self.port = int(wait_until(lambda: file.exists() and file.read_text().split(), "larder starts", self.process)[0])

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)

    @property
    def resident(self):
        """In MiB."""
        return memory(self.process) / 1024


class Interceptor(Larder):
    """One that intercepts every host, and trusts the CA of the origins alone. Clients have to trust `root`."""

    def __init__(self, store, authority, *settings, constrain=(), loops=1, config=None):
        folder = WORK / "larder-ca"
        if not folder.exists():
            output([LARDER, "ca", "init", "--folder", folder, *(word for domain in constrain for word in ("--constrain", domain))])
        self.root = folder / "current" / "root.pem"
        super().__init__(store, f"tls.authority.folder={folder}", "tunnel.ports=any",
                         f"tls.default={{anchors: {{bundle: {authority.certificate}}}, connect: intercept}}", *settings, loops=loops, config=config)
