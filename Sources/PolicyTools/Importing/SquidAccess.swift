/// Reads the lines of a squid.conf that decide whether a request is allowed.
struct SquidAccess {
    private let lists: SquidLists
    private(set) var rules: [SquidRule] = []
    private(set) var remarks: [SquidImport.Remark]
    /// Whether every request that no rule allows is denied.
    var deniesOthers: Bool { isEnded ? endDenies : closing != nil || !lastLineDenies }
    /// The addresses to which no request may be sent, in addition to the addresses that Larder denies by default.
    private(set) var deniedAddresses: [String] = []

    private var isEnded = false
    private var endDenies = true
    /// Whether the last line denies. If no line matches a request, squid does the opposite of its last line. If Larder's rules do not
    /// express the last line exactly, the imported policy allows only what its rules allow.
    private var lastLineDenies = false
    /// The number of a line that denies requests for which no rule can be written. After such a line, no line is imported as a
    /// rule that allows.
    private var closing: Int?
    private var depth = 0
    /// An upper bound for the size of the rules and addresses, in bytes.
    private var size = 0
    private var checked: Set<String> = []
    private var comparison = SquidComparison()

    init(_ lists: SquidLists) {
        self.lists = lists
        remarks = lists.remarks
    }

    private mutating func note(_ directive: SquidDirective, _ text: String) {
        remarks.append(SquidImport.Remark(line: directive.line, text: text))
    }

    mutating func read(_ directive: SquidDirective) {
        let words = directive.words
        if directive.isCut {
            return note(directive, "`\(words[0])` is not imported: the line ends with a backslash, and no line follows")
        }
        depth += directive.conditionDepth
        switch words[0] {
        case "acl":
            if words.count < 3 { note(directive, "not imported: an acl needs a name and a type") }
        case "if", "else", "endif":
            note(directive, "`\(words[0])` is not imported; lines within `if` that allow requests are also not imported")
        case "include":
            note(
                directive,
                "`include` is not imported, so no later line allows anything; replace the directive with the lines of the included file"
            )
            if !isEnded { close(by: directive) }
        case "http_access": readAccess(directive)
        default:
            if let harmless = Self.otherAccess[words[0]] { return readOther(directive, unless: harmless) }
            note(directive, "`\(words[0])` is not imported")
        }
    }

    // MARK: Other directives

    /// Directives that change what `http_access` allows, each with an action. If the first line of a directive has this action and `all`,
    /// the directive changes nothing.
    private static let otherAccess = [
        "adapted_http_access": "allow", "http_access2": "allow", "http_reply_access": "allow", "miss_access": "allow",
        "follow_x_forwarded_for": "deny",
    ]

    private mutating func readOther(_ directive: SquidDirective, unless action: String) {
        let words = directive.words
        let isFirst = checked.insert(words[0]).inserted
        if isFirst, depth == 0, words.dropFirst() == [action, "all"] {
            // This line matches every request, and its action changes nothing. Squid uses no later line of the same directive.
            checked.insert("\(words[0]) \(action)")
            return note(directive, "`\(words[0])` is not imported")
        }
        if checked.contains("\(words[0]) \(action)") {
            return note(directive, "never used: an earlier line matches every request")
        }
        note(directive, "`\(words[0])` is not imported. This directive may deny requests, so the import allows nothing")
        rules.removeAll(where: \.allows)
        endDenies = true
        close(by: directive)
    }

    private mutating func close(by directive: SquidDirective) { if closing == nil { closing = directive.line } }

    // MARK: http_access

    private mutating func readAccess(_ directive: SquidDirective) {
        let words = directive.words
        guard words.count >= 2, ["allow", "deny"].contains(words[1]) else {
            return note(directive, "squid ignores this line: `allow` or `deny` is missing")
        }
        if words.count == 2 { return note(directive, "squid ignores this line: an acl name is missing") }
        if isEnded { return note(directive, "never used: an earlier line matches every request") }
        let allows = words[1] == "allow"
        if let closing {
            // From this line on, the import denies every request that no earlier line allows.
            if allows { note(directive, "not imported, because the earlier line \(closing) is not imported") }
            return
        }
        var rule = SquidRule(line: directive.line, allows: allows)
        var faults: [String] = depth > 0 ? ["the line is within `if`"] : []
        for word in words.dropFirst(2) {
            let isNegated = word.hasPrefix("!")
            let name = isNegated ? String(word.dropFirst()) : word
            let fault = lists[name].map { rule.add($0, negated: isNegated) } ?? "no acl has this name"
            if let fault { faults.append("`\(word)`: \(fault)") }
        }
        lastLineDenies = !allows && faults.isEmpty
        if allows { addAllowing(rule, faults, directive) } else { addDenying(rule, faults, directive) }
    }

    private mutating func addAllowing(_ rule: SquidRule, _ faults: [String], _ directive: SquidDirective) {
        if let fault = faults.first { return note(directive, "not imported: \(fault)") }
        if rule.matchesNothing { return note(directive, "not imported: the line matches no request") }
        if rule.isForEveryRequest {
            (isEnded, endDenies) = (true, false)
            return
        }
        if !rule.hasText {
            return note(
                directive,
                "not imported: the line allows only https URLs, but a Larder rule for https would also allow tunnels (CONNECT)")
        }
        add(rule, directive)
    }

    private mutating func addDenying(_ rule: SquidRule, _ faults: [String], _ directive: SquidDirective) {
        if rule.matchesNothing {
            if faults.isEmpty { note(directive, "not imported: the line matches no request") }
            return
        }
        if rule.isForEveryRequest {
            guard let fault = faults.first else {
                (isEnded, endDenies) = (true, true)
                return
            }
            note(directive, "not imported, so no later line allows anything: \(fault)")
            return close(by: directive)
        }
        if let fault = faults.first { note(directive, "Larder denies more than squid: \(fault)") }
        compare(rule, directive)
        if let destinations = rule.destinations {
            guard hasRoom(for: rule, directive) else { return }
            if !rule.isForDestinationsAlone {
                note(directive, "Larder denies every request to these addresses, and ignores the other conditions of this line")
            }
            deniedAddresses += destinations
            return
        }
        if rule.deniesOtherForms {
            note(
                directive, "Larder denies both tunnels and https URLs, because a rule cannot distinguish tunnels from https URLs")
        }
        add(rule, directive)
    }

    private mutating func add(_ rule: SquidRule, _ directive: SquidDirective) {
        if hasRoom(for: rule, directive) { rules.append(rule) }
    }

    private mutating func hasRoom(for rule: SquidRule, _ directive: SquidDirective) -> Bool {
        size += rule.size
        if size <= PolicyToolLimits.importedLength, rules.count < PolicyToolLimits.importedRules { return true }
        note(
            directive,
            "not imported, so no later line allows anything: the settings would have more than \(PolicyToolLimits.importedRules) rules, "
                + "or more than \(PolicyToolLimits.importedLength) bytes")
        close(by: directive)
        return false
    }

    /// Adds a remark with the first line that allows requests which Larder will deny because of the line of `rule`.
    private mutating func compare(_ rule: SquidRule, _ directive: SquidDirective) {
        let found = comparison.firstOverlap(of: rule, with: rules)
        if let line = found {
            note(
                directive,
                "Larder denies a request that this line matches, even if line \(line) allows it, because a rule that denies always wins"
            )
        } else if comparison.isSpent {
            note(
                directive,
                "not compared with earlier lines, because there are too many lines. Larder denies a request that this line matches, "
                    + "even if an earlier line allows it")
        }
    }
}
