"""A collector for traces and logs, which reads each message as opentelemetry-proto defines it."""

import base64
import collections
import http.client
import http.server
import json
import threading

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from Tools.checks import check, finish
from Tools.larder import WORK, Larder
from Tools.origins import QuietHandler
from Tools.processes import wait_until

REQUESTS = 2000
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def octets(value):
    """OTLP writes identifiers in hexadecimal, and protobuf's JSON reads them in base64."""
    if isinstance(value, dict):
        return {name: base64.b64encode(bytes.fromhex(member)).decode() if name in ("traceId", "spanId", "parentSpanId") else octets(member)
                for name, member in value.items()}
    return [octets(element) for element in value] if isinstance(value, list) else value


class Collector(QuietHandler):
    protocol_version = "HTTP/1.1"
    spans, records, faults = [], [], []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if self.path == "/v1/traces":
                message = json_format.ParseDict(octets(body), ExportTraceServiceRequest())
                self.spans += [span for resource in message.resource_spans for scope in resource.scope_spans for span in scope.spans]
            else:
                message = json_format.ParseDict(octets(body), ExportLogsServiceRequest())
                self.records += [record for resource in message.resource_logs for scope in resource.scope_logs for record in scope.log_records]
        except json_format.ParseError as error:
            self.faults.append(str(error))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")


class Origin(QuietHandler):
    protocol_version = "HTTP/1.1"
    parents = []

    def do_GET(self):
        self.parents.append(self.headers["traceparent"])
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"x")


def serve(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


collector, origin = serve(Collector), serve(Origin)
log, settings = WORK / "access.log", WORK / "larder.yaml"
settings.write_text("rules: [{name: no-denied, match: {path: /denied/**}, deny: {}}]\n")
larder = Larder(":memory:", f"otlp.endpoint=http://127.0.0.1:{collector}", f"log.access.path={log}", "log.access.format=ndjson", loops=2,
                config=settings)
connection = http.client.HTTPConnection("127.0.0.1", larder.port)
for number in range(REQUESTS):
    fields = {"traceparent": f"00-{TRACE}-{PARENT}-01"} if number % 2 else {}
    path = "denied/x" if number % 10 == 9 else f"keep/{number % 300}?token=secret"
    connection.request("GET", f"http://127.0.0.1:{origin}/{path}", headers=fields)
    connection.getresponse().read()
connection.close()
lines = wait_until(lambda: (lambda read: read if len(read) == REQUESTS else None)(log.read_text().splitlines()), "every request is logged",
                   larder.process)
lines = [json.loads(line) for line in lines]
check(larder.stop() == 0, "Larder ended well")

check(not Collector.faults, f"opentelemetry-proto reads every message: {Collector.faults[:3]}")
servers = [span for span in Collector.spans if span.kind == span.SPAN_KIND_SERVER]
clients = [span for span in Collector.spans if span.kind == span.SPAN_KIND_CLIENT]


def attribute(span, name):
    return next((entry.value.string_value or entry.value.int_value for entry in span.attributes if entry.key == name), None)


logged = collections.Counter((line["id"], line["cache"], line["status"]) for line in lines)
seen = collections.Counter((attribute(span, "larder.id"), attribute(span, "larder.cache"), attribute(span, "http.response.status_code"))
                           for span in servers)
check(seen == logged, f"{len(servers)} server spans are the {len(lines)} requests of the access log, with outcome and status")
check(len(clients) == sum("upstream_status" in line or line["cache"] == "miss" for line in lines),
      f"{len(clients)} client spans, one for each request to the origin")
own = {span.span_id: span for span in servers}
check(all(span.parent_span_id in own and own[span.parent_span_id].trace_id == span.trace_id for span in clients),
      "each client span belongs to a server span")
continued = [span for span in servers if span.trace_id.hex() == TRACE]
check(len(continued) == REQUESTS // 2 and all(span.parent_span_id.hex() == PARENT for span in continued), "the clients' traces continue")
sent = {span.span_id.hex() for span in clients}
parents = [parent for parent in Origin.parents if parent]
check(parents and all(parent.split("-")[1] == TRACE and parent.split("-")[2] in sent for parent in parents),
      f"{len(parents)} requests to the origin name Larder's span as their parent; {len(Origin.parents) - len(parents)} had no trace")
check(all(span.start_time_unix_nano <= span.end_time_unix_nano for span in Collector.spans), "no span ends before it starts")
check("secret" not in "".join(str(span) for span in Collector.spans), "no span contains a query")
check(all(record.body.string_value for record in Collector.records), f"{len(Collector.records)} log records")
finish()
