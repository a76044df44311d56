import HTTPMessage

/// The settings file into which the lines of a squid.conf are translated.
struct SquidSettings {
    let text: String
    private(set) var remarks: [SquidImport.Remark] = []

    init(_ access: SquidAccess) {
        // Rules that allow are omitted if all requests are allowed by default, because they would have no effect.
        let rules = access.rules.filter { !$0.allows || access.deniesOthers }
        let clients = Self.clients(of: access.rules)
        var lines = ["# Imported from a squid.conf."]
        if rules.contains(where: { $0.allows && $0.looksInside }) {
            lines.append("# Rules with a method or a path apply only to http: Larder does not see the requests in a tunnel.")
        }
        if !clients.isEmpty { lines += ["clients:", "  allow: \(SquidRule.list(clients))"] }
        let word = access.deniesOthers ? "deny" : "allow"
        if access.deniedAddresses.isEmpty {
            lines.append("egress: {default: \(word)}")
        } else {
            // A list in the settings replaces Larder's own list, so the addresses of metadata services are added.
            let addresses = access.deniedAddresses + AddressRange.metadataServices.map(\.description)
            lines += ["egress:", "  default: \(word)", "  addresses: {deny: \(SquidRule.list(addresses))}"]
        }
        lines.append("tunnel: {ports: any}")
        lines.append(rules.isEmpty ? "rules: []" : "rules:")
        text = (lines + rules.flatMap(\.text)).joined(separator: "\n") + "\n"
        if !clients.isEmpty {
            for rule in access.rules where rule.allows && rule.clients == nil {
                remarks.append(
                    SquidImport.Remark(
                        line: rule.line,
                        text: "Larder allows these requests only from the clients in clients.allow and from this machine"))
            }
        }
    }

    /// The clients on other machines that some line allows. The rules decide which requests each of these clients may send.
    private static func clients(of rules: [SquidRule]) -> [String] {
        let named = rules.flatMap { rule in
            rule.allows ? rule.clients ?? [] : rule.exclusions.flatMap { $0.looksInside ? [] : $0.clients }
        }
        return named.filter { !$0.hasPrefix("127.") && $0 != "::1" && $0 != "::1/128" }
    }
}
