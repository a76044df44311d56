import TextCoding

/// Translates the access rules of a squid.conf into settings.
///
/// Squid uses the first line that matches; in Larder a rule that denies always wins. Lines that cannot be expressed exactly are listed,
/// and so is each directive that is not imported. Where the two differ, Larder denies more.
package struct SquidImport: Sendable {
    /// A line that is not expressed, or not exactly.
    package struct Remark: Equatable, Sendable {
        package let line: Int
        package let text: String
    }

    /// The settings, as YAML.
    package private(set) var settings = ""
    /// In the order of the file.
    package private(set) var remarks: [Remark] = []

    private var rules: [SquidRule] = []
    private var deniesOthers = true
    /// Whether the last line about requests denies, and has become a rule.
    private var lastLineDenies = false

    package init(_ text: String) {
        var lists: [String: SquidACL] = SquidACL.predefined
        var kinds: [String: (type: String, values: [String])] = [:]
        var isEnded = false
        for directive in SquidDirective.all(in: text) {
            let words = directive.words
            switch words[0] {
            case "acl" where words.count >= 3:
                // Several lines add up to one list.
                let known = kinds[words[1]]
                let values = (known?.values ?? []) + words.dropFirst(3)
                kinds[words[1]] = (words[2], values)
                lists[words[1]] =
                    known.map { $0.type != words[2] } ?? false
                    ? .inexpressible("its lines have different types") : SquidACL(type: words[2], values: values)
                if case .inexpressible(let reason)? = lists[words[1]] { note(directive, "acl \(words[1]): \(reason)") }
            case "http_access" where words.count >= 2 && ["allow", "deny"].contains(words[1]):
                if isEnded {
                    note(directive, "never used: an earlier line decides about every request")
                } else {
                    isEnded = read(directive, lists)
                    lastLineDenies = rules.last?.line == directive.line && rules.last?.allows == false
                }
            default: note(directive, "`\(words[0])` is not imported")
            }
        }
        // If no line matches, Squid does the opposite of its last line. If that line was not imported, the import allows no other
        // request.
        if !isEnded { deniesOthers = !lastLineDenies }
        write()
        remarks.sort { $0.line < $1.line }
    }

    private mutating func note(_ directive: SquidDirective, _ text: String) {
        remarks.append(Remark(line: directive.line, text: text))
    }

    /// - Returns: whether no later line is used.
    private mutating func read(_ directive: SquidDirective, _ lists: [String: SquidACL]) -> Bool {
        var rule = SquidRule(line: directive.line, allows: directive.words[1] == "allow")
        for word in directive.words.dropFirst(2) {
            let isNegated = word.hasPrefix("!")
            let name = isNegated ? String(word.dropFirst()) : word
            var fault: String?
            if let list = lists[name] {
                if isNegated {
                    fault = list.negated.map { rule.add($0) } ?? "a rule cannot express `!\(name)`"
                } else {
                    fault = rule.add(list)
                }
            } else {
                fault = "there is no acl `\(name)`"
            }
            if let fault {
                note(directive, "not imported, because of \(word): \(fault)")
                return false
            }
        }
        if rule.isForEveryRequest {
            deniesOthers = !rule.allows
            return true
        }
        if rule.clients != nil, !rule.allows {
            note(directive, "not imported: Larder has a list of allowed clients, but no list of denied clients")
            return false
        }
        if !rule.allows {
            for earlier in rules where earlier.allows && !earlier.isDisjoint(with: rule) {
                note(
                    directive,
                    "Larder also denies the requests that line \(earlier.line) allows, because a rule that denies always wins")
            }
        }
        rules.append(rule)
        return false
    }

    // MARK: Writing

    private mutating func write() {
        let clients = clientLists()
        var lines = ["# Imported from a squid.conf."]
        if !clients.isEmpty { lines += ["clients:", "  allow: \(Self.list(clients))"] }
        lines += ["egress: {default: \(deniesOthers ? "deny" : "allow")}", "tunnel: {ports: any}"]
        var written: [String] = []
        // If everything else is allowed, rules that allow have no effect.
        for rule in rules where !rule.allows || deniesOthers { written += Self.written(rule) }
        lines.append(written.isEmpty ? "rules: []" : "rules:")
        settings = (lines + written).joined(separator: "\n") + "\n"
    }

    /// The clients that may use Larder. A line for different clients than the other lines is left out.
    private mutating func clientLists() -> [String] {
        let allowing = rules.filter { $0.allows && $0.clients != nil }
        guard !allowing.isEmpty else { return [] }
        let alone = allowing.allSatisfy(\.isForClientsAlone)
        let first = allowing[0].clients ?? []
        for rule in allowing where !alone && rule.clients != first {
            remarks.append(
                Remark(line: rule.line, text: "not imported: it is not for the same clients as line \(allowing[0].line)"))
            rules.removeAll { $0.line == rule.line }
        }
        for rule in rules where rule.allows && rule.clients == nil {
            remarks.append(
                Remark(line: rule.line, text: "Larder allows this only to the clients of line \(allowing[0].line)"))
        }
        var lists: [String] = []
        for range in alone ? allowing.flatMap({ $0.clients ?? [] }) : first where !lists.contains(range) { lists.append(range) }
        return lists.filter { !$0.hasPrefix("127.") && $0 != "::1" }
    }

    private static func written(_ rule: SquidRule) -> [String] {
        let name = "line \(rule.line)"
        let effect = rule.allows ? "allow: {}" : "deny: {}"
        guard let urls = rule.urls else { return entry(name, match(of: rule), effect) }
        return urls.enumerated().flatMap { index, url in
            let port = url.scheme == "http" ? 80 : 443
            var match = ["scheme: \(url.scheme)", "host: \(list([url.host]))", "port: \(port)", "path: \(list([url.path]))"]
            if let methods = rule.methods { match.append("method: \(list(methods))") }
            return entry(urls.count == 1 ? name : "\(name), \(index + 1)", match, effect)
        }
    }

    private static func match(of rule: SquidRule) -> [String] {
        var match: [String] = []
        if let schemes = rule.schemes { match.append("scheme: \(list(schemes))") }
        if let hosts = rule.hosts { match.append("host: \(list(hosts))") }
        if let ports = rule.ports {
            let texts = ports.map { $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
            match.append("port: [\(texts.joined(separator: ", "))]")
        }
        if let methods = rule.methods { match.append("method: \(list(methods))") }
        if let paths = rule.paths { match.append("path: \(list(paths))") }
        return match
    }

    private static func entry(_ name: String, _ match: [String], _ effect: String) -> [String] {
        ["  - name: \(JSONText.quoted(name))"] + (match.isEmpty ? [] : ["    match: {\(match.joined(separator: ", "))}"])
            + ["    \(effect)"]
    }

    private static func list(_ values: [String]) -> String { "[" + values.map(JSONText.quoted).joined(separator: ", ") + "]" }
}
