"""Prometheus beside Larder: scraped numbers and the access log, the alert rules, the dashboard."""

import collections
import http.client
import http.server
import json
import re
import subprocess
import threading
import urllib.parse
import urllib.request
from pathlib import Path

from Tools.checks import check, finish
from Tools.larder import WORK, Larder
from Tools.origins import QuietHandler
from Tools.processes import free_port, start, wait_until

CONFIG = Path(__file__).resolve().parents[2] / "config"
CLIENTS, REQUESTS = 8, 250


class Origin(QuietHandler):
    def do_GET(self):
        kept = self.path.startswith("/keep/")
        body = self.path.encode() * 20
        self.send_response(404 if self.path.startswith("/none/") else 200)
        self.send_header("Cache-Control", "max-age=3600" if kept else "no-store")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def client(larder, origin, number, received):
    """Requests of every kind: stored, not stored, not found, denied. Adds the length of each content to `received`."""
    connection = http.client.HTTPConnection("127.0.0.1", larder.port)
    for count in range(REQUESTS):
        kind = ("keep", "pass", "none", "denied")[count % 4]
        connection.request("GET", f"http://127.0.0.1:{origin}/{kind}/{number if kind == 'pass' else count % 40}")
        received.append(len(connection.getresponse().read()))
    connection.close()


def query(port, expression):
    address = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
    answer = json.load(urllib.request.urlopen(address))
    return {tuple(sorted((name, value) for name, value in entry["metric"].items() if name not in ("__name__", "instance", "job"))):
            float(entry["value"][1]) for entry in answer["data"]["result"]}


def log_lines(log):
    return [json.loads(line) for line in log.read_text().splitlines()]


def exposition(port):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()


def selectors(expressions):
    """The metrics in PromQL expressions, each with the values that its selector compares with `=` or `=~`, by label."""
    for expression in expressions:
        for name, selector in re.findall(r"\b((?:larder|process)_\w+)(?:\{([^}]*)\})?", expression):
            yield name, dict(re.findall(r'(\w+)=~?"([^"]*)"', selector))


def scrape():
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    log, metrics, port = WORK / "access.log", free_port(), free_port()
    settings = WORK / "larder.yaml"
    settings.write_text("rules: [{name: no-denied, match: {path: /denied/**}, deny: {reason: tested}}]\n")
    larder = Larder(":memory:", f"log.access.path={log}", "log.access.format=ndjson", f"metrics.listen=127.0.0.1:{metrics}", loops=2,
                    config=settings)
    (WORK / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
rule_files: [{CONFIG}/prometheus-alerts.yaml]
scrape_configs:
  - job_name: larder
    static_configs: [{{targets: ['127.0.0.1:{metrics}']}}]
""")
    prometheus = start(["prometheus", f"--config.file={WORK}/prometheus.yml", f"--storage.tsdb.path={WORK}/data",
                        f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])

    def answers():
        try:
            return query(port, "larder_build_info")
        except OSError:
            return None
    wait_until(answers, "Prometheus has scraped Larder", prometheus)
    received = []
    clients = [threading.Thread(target=client, args=(larder, origin.server_port, number, received)) for number in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    total = CLIENTS * REQUESTS
    wait_until(lambda: len(log_lines(log)) == total or None, "every request is logged", larder.process)
    wait_until(lambda: sum(query(port, "larder_requests_total").values()) == total or None, "every request is scraped", prometheus)

    lines = log_lines(log)
    logged = collections.Counter(tuple(sorted({"mode": "live", "method": line["method"], "status": str(line["status"]),
                                               "cache": line["cache"]}.items())) for line in lines)
    scraped = query(port, "larder_requests_total")
    check(scraped == logged, f"larder_requests_total: {len(scraped)} series with the counts of the log's {len(lines)} lines"
          + ("" if scraped == logged else f": {scraped} instead of {dict(logged)}"))
    durations = query(port, "sum by (cache) (larder_request_duration_seconds_count)")
    outcomes = collections.Counter((("cache", line["cache"]),) for line in lines)
    check(durations == outcomes, f"larder_request_duration_seconds: the same number of requests for each outcome, {dict(outcomes)}")
    denied = query(port, "sum(larder_policy_decisions_total{rule=\"no-denied\", enforce=\"deny\"})")
    check(list(denied.values()) == [sum(line["status"] == 403 for line in lines)], f"larder_policy_decisions_total: {denied}")
    sent = query(port, "larder_sent_bytes_total")
    check(list(sent.values()) == [sum(received)], f"larder_sent_bytes_total: {sent}, and the clients received {sum(received)}")
    rules = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules"))["data"]["groups"]
    faults = [rule["lastError"] for group in rules for rule in group["rules"] if rule.get("lastError")]
    check(rules and not faults, f"Prometheus evaluates {sum(len(group['rules']) for group in rules)} alert rules: {faults}")

    text = exposition(metrics)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True)
    check(checked.returncode == 0, f"promtool check metrics: {checked.stderr.decode().strip() or 'nothing to report'}")
    dashboard(text)
    check(larder.stop() == 0, "Larder ended well")


def dashboard(text):
    """No panel and no alert is about a metric or a label that does not exist."""
    offered = set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE))
    documented = set(re.findall(r"`(\w+)`", (CONFIG.parent / "docs/operations.md").read_text()))
    histograms = set(re.findall(r"^# TYPE (\w+) histogram", text, re.MULTILINE))
    page = json.loads((CONFIG / "grafana-dashboard.json").read_text())
    targets = [target["expr"] for panel in page["panels"] for target in panel.get("targets", [])]
    alerts = re.findall(r"expr: (?:>\n)?((?:.*\n)(?: {10}.*\n)*)", (CONFIG / "prometheus-alerts.yaml").read_text())
    found = list(selectors(targets + alerts))
    # A family without a sample is not in the text.
    known = offered | documented | {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
    unknown = sorted({name for name, _ in found} - known)
    check(len(found) > 30 and not unknown, f"{len(targets)} expressions of the dashboard and {len(alerts)} alerts: no unknown metric {unknown}")
    labels = {name: set(re.findall(r"(\w+)=", values)) for name, values in re.findall(r"^(\w+)\{(.*?)\} ", text, re.MULTILINE)}
    strange = sorted({f"{name}: {label}" for name, values in found if name in labels for label in values.keys() - labels[name] - {"instance"}})
    check(not strange, f"no unknown label {strange}")
    missing = sorted(offered - documented)
    check(not missing, f"docs/operations.md describes all {len(offered)} metrics {missing}")


def main():
    checked = subprocess.run(["promtool", "check", "rules", CONFIG / "prometheus-alerts.yaml"], capture_output=True)
    check(checked.returncode == 0, f"promtool check rules: {checked.stdout.decode().split(chr(10))[1].strip() if checked.stdout else checked.stderr}")
    scrape()
    finish()


main()
