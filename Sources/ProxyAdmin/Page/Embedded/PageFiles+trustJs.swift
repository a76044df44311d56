// swift-format-ignore-file
// Written by scripts/page-files.py from Files/trust.js.

extension PageFiles {
    static let trustJs = PageFile(
        path: "/trust.js", contentType: "text/javascript; charset=utf-8",
        text: #"""
        // Trust: the policies by host, pins, the root certificate, and the certificates of servers.

        import { make, replace, table, terms } from "./dom.js";
        import { get } from "./api.js";

        export const title = "Trust";

        export function open(container) {
          const policies = make("div", {}, make("p", { class: "quiet" }, "Loading."));
          const servers = make("div", {}, make("p", { class: "quiet" }, "Loading."));
          replace(container, make("h2", {}, "Trust"), policies, make("h3", {}, "Servers with stored responses"), servers);
          fill(policies, "/v1/trust", (trust) => [
            trust.warnings.map((warning) => make("p", { class: "note" }, warning)),
            make("h3", {}, "Policies"),
            table("Hosts with a policy of their own", [["Host", "short"], ["Policy", ""], ["Written in", ""]],
              trust.hosts.map((host) => [host.host, make("pre", {}, host.policy || "the default"), host.source]), "No host has a policy of its own."),
            trust.default ? make("div", {}, make("p", {}, "All other hosts:"), make("pre", {}, trust.default.policy || "anchors: system")) : null,
            make("h3", {}, "Pins"),
            table("Pinned hosts", [["Host", "short"], ["Keys", ""], ["Backup keys", ""], ["Expires", "short"], ["Enforced", "short"]],
              trust.pins.map((pin) => [pin.host, pin.live.join(" "), pin.backup.join(" "), pin.expires ?? "never", pin.report_only ? "no, reported" : "yes"]),
              "No host is pinned."),
            make("h3", {}, "Root certificate for interception"),
            trust.root ? terms([["Subject", trust.root.subject], ["Valid until", until(trust.root)], ["Key", trust.root.key]])
              : make("p", { class: "quiet" }, "Larder intercepts no host."),
          ]);
          fill(servers, "/v1/trust/servers", (answer) => [
            table("Certificates as last seen", [["Server", "short"], ["Subject", ""], ["Issuer", "wide"], ["Valid until", "short"]],
              answer.origins.map((server) => [server.origin, server.certificate?.subject ?? "unreadable", server.certificate?.issuer ?? "",
                server.certificate ? until(server.certificate) : ""]), "No certificate is recorded."),
            answer.complete ? null : make("p", { class: "quiet" }, "There are more servers than are listed."),
          ]);

          async function fill(element, path, show) {
            try {
              replace(element, show(await get(path)));
            } catch (refusal) {
              replace(element, make("p", { class: "note wrong", role: "alert" }, refusal.message));
            }
          }

          function until(certificate) {
            const days = certificate.days_left;
            if (days === null) return certificate.not_after;
            const text = days < 0 ? `${certificate.not_after}, expired` : `${certificate.not_after}, ${days} days left`;
            return make("span", { class: days < 0 ? "bad" : days < 21 ? "warn" : null }, text);
          }

          return {};
        }

        """#)
}
