"""A container registry and a git-lfs server, small enough to stand in a test's origin: functions that answer an http.server handler."""

import hashlib
import json

OCI = "application/vnd.oci.image"


def reply(handler, status, body, fields):
    handler.send_response(status)
    for name, value in fields.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


class Registry:
    """One image, `probe:1.0`, of one layer, by the OCI distribution specification.

    `open` answers /v2/ with 200; `challenge` with 401 and a scheme, though nothing else needs credentials; `token` wants for all else the
    bearer token that its /token gives to everybody, as public registries do. Errors and manifests have no lifetime, blobs have one.
    """

    TOKEN = "a-token-for-everybody"

    def __init__(self, kind):
        self.kind = kind
        self.layer = hashlib.sha512(b"layer").digest() * 2000
        config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {
            "type": "layers", "diff_ids": [self.digest(self.layer)]}, "history": [{"created_by": "test"}]}).encode()
        self.manifest = json.dumps({"schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json",
            "config": self.described("config.v1+json", config), "layers": [self.described("layer.v1.tar", self.layer)]}).encode()
        self.blobs = {self.digest(config): config, self.digest(self.layer): self.layer}

    @staticmethod
    def digest(data):
        return f"sha256:{hashlib.sha256(data).hexdigest()}"

    def described(self, kind, data):
        return {"mediaType": f"{OCI}.{kind}", "digest": self.digest(data), "size": len(data)}

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        if path == "/token":
            return reply(handler, 200, json.dumps({"token": self.TOKEN, "expires_in": 300}).encode(), {"Content-Type": "application/json"})
        denied = self.kind == "token" and handler.headers.get("Authorization") != f"Bearer {self.TOKEN}"
        if denied or (path == "/v2/" and self.kind == "challenge"):
            host = handler.headers["Host"]
            scheme = f'Bearer realm="https://{host}/token",service="{host}"' if self.kind == "token" else 'Basic realm="registry"'
            return reply(handler, 401, b"{}", {"Content-Type": "application/json", "WWW-Authenticate": scheme})
        if path == "/v2/":
            return reply(handler, 200, b"{}", {"Content-Type": "application/json"})
        if path in ("/v2/probe/manifests/1.0", f"/v2/probe/manifests/{self.digest(self.manifest)}"):
            digest = self.digest(self.manifest)
            return reply(handler, 200, self.manifest, {
                "Content-Type": f"{OCI}.manifest.v1+json", "Docker-Content-Digest": digest, "ETag": f'"{digest}"'})
        if (blob := self.blobs.get(path.removeprefix("/v2/probe/blobs/"))) is not None:
            return reply(handler, 200, blob, {"Content-Type": "application/octet-stream", "Cache-Control": "max-age=31536000"})
        return reply(handler, 404, b'{"errors": [{"code": "NAME_UNKNOWN"}]}', {"Content-Type": "application/json"})


class LargeFiles:
    """git-lfs's batch API and its objects: the batch has no lifetime, objects have one."""

    def __init__(self):
        self.objects = {}

    def add(self, data):
        """The text of the pointer that stands in the repository."""
        oid = hashlib.sha256(data).hexdigest()
        self.objects[oid] = data
        return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"

    def answer(self, handler, content):
        path = handler.path.partition("?")[0]
        if path.endswith("/info/lfs/objects/batch"):
            prefix = f"https://{handler.headers['Host']}{path.removesuffix('/batch')}"
            told = [{**wanted, "actions": {"download": {"href": f"{prefix}/{wanted['oid']}"}}} for wanted in json.loads(content)["objects"]]
            return reply(handler, 200, json.dumps({"transfer": "basic", "objects": told}).encode(), {
                "Content-Type": "application/vnd.git-lfs+json"})
        data = self.objects.get(path.rpartition("/")[2])
        if data is None:
            return reply(handler, 404, b"{}", {"Content-Type": "application/vnd.git-lfs+json"})
        return reply(handler, 200, data, {"Content-Type": "application/octet-stream", "Cache-Control": "max-age=3600"})
