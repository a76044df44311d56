/// Reads the lines of a squid.conf that decide about requests.
struct SquidAccess {
    private let lists: SquidLists
    private(set) var rules: [SquidRule] = []
    private(set) var remarks: [SquidImport.Remark]
    /// Everything that no rule allows is denied.
    var deniesOthers: Bool { isEnded ? endDenies : closing != nil || !lastLineDenies }
    /// The addresses that no request may reach, without those that Larder denies by itself.
    private(set) var deniedAddresses: [String] = []

    private var isEnded = false
    private var endDenies = true
    /// Squid does the opposite of its last line. If that line is not expressed exactly, the import allows nothing that it does not know.
    private var lastLineDenies = false
    /// The line that denies requests which no rule can name: no later line allows anything.
    private var closing: Int?
    private var depth = 0
    /// The bytes of the rules and addresses, at most.
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
        if directive.isCut { return note(directive, "`\(words[0])` is not imported: the file ends within it") }
        depth += directive.conditionDepth
        switch words[0] {
        case "acl":
            if words.count < 3 { note(directive, "not imported: an acl has a name and a type") }
        case "if", "else", "endif": note(directive, "`\(words[0])` is not imported: lines within `if` allow nothing")
        case "include":
            note(directive, "`include` is not imported, so no later line allows anything; put the lines of the file in its place")
            if !isEnded { close(by: directive) }
        case "http_access": readAccess(directive)
        default:
            if let harmless = Self.otherAccess[words[0]] { return readOther(directive, unless: harmless) }
            note(directive, "`\(words[0])` is not imported")
        }
    }

    // MARK: Other directives

    /// Directives that change what `http_access` allows, with the action that `all` may have in the first line.
    private static let otherAccess = [
        "adapted_http_access": "allow", "http_access2": "allow", "http_reply_access": "allow", "miss_access": "allow",
        "follow_x_forwarded_for": "deny",
    ]

    private mutating func readOther(_ directive: SquidDirective, unless action: String) {
        let words = directive.words
        let isFirst = checked.insert(words[0]).inserted
        if isFirst, depth == 0, words.dropFirst() == [action, "all"] {
            // It changes nothing, and neither do the lines behind it.
            checked.insert("\(words[0]) \(action)")
            return note(directive, "`\(words[0])` is not imported")
        }
        if checked.contains("\(words[0]) \(action)") {
            return note(directive, "never used: an earlier line decides about every request")
        }
        note(directive, "`\(words[0])` is not imported. It may deny requests, so the import allows nothing")
        rules.removeAll(where: \.allows)
        endDenies = true
        close(by: directive)
    }

    private mutating func close(by directive: SquidDirective) { if closing == nil { closing = directive.line } }

    // MARK: http_access

    private mutating func readAccess(_ directive: SquidDirective) {
        let words = directive.words
        guard words.count >= 2, ["allow", "deny"].contains(words[1]) else {
            return note(directive, "squid ignores this line: it has neither `allow` nor `deny`")
        }
        if words.count == 2 { return note(directive, "squid ignores this line: it names no acl") }
        if isEnded { return note(directive, "never used: an earlier line decides about every request") }
        let allows = words[1] == "allow"
        if let closing {
            // The import denies what no earlier line allows.
            if allows { note(directive, "not imported, because line \(closing) is not expressed") }
            return
        }
        var rule = SquidRule(line: directive.line, allows: allows)
        var faults: [String] = depth > 0 ? ["it is within `if`"] : []
        for word in words.dropFirst(2) {
            let isNegated = word.hasPrefix("!")
            let name = isNegated ? String(word.dropFirst()) : word
            let fault = lists[name].map { rule.add($0, negated: isNegated) } ?? "there is no such acl"
            if let fault { faults.append("`\(word)`: \(fault)") }
        }
        lastLineDenies = !allows && faults.isEmpty
        if allows { addAllowing(rule, faults, directive) } else { addDenying(rule, faults, directive) }
    }

    private mutating func addAllowing(_ rule: SquidRule, _ faults: [String], _ directive: SquidDirective) {
        if let fault = faults.first { return note(directive, "not imported: \(fault)") }
        if rule.matchesNothing { return note(directive, "not imported: it matches no request") }
        if rule.isForEveryRequest {
            (isEnded, endDenies) = (true, false)
            return
        }
        if !rule.hasText { return note(directive, "not imported: a rule for https URLs also allows tunnels") }
        add(rule, directive)
    }

    private mutating func addDenying(_ rule: SquidRule, _ faults: [String], _ directive: SquidDirective) {
        if rule.matchesNothing {
            if faults.isEmpty { note(directive, "not imported: it matches no request") }
            return
        }
        if rule.isForEveryRequest {
            guard let fault = faults.first else {
                (isEnded, endDenies) = (true, true)
                return
            }
            note(directive, "not expressed, so no later line allows anything: \(fault)")
            return close(by: directive)
        }
        if let fault = faults.first { note(directive, "Larder denies more than squid: \(fault)") }
        compare(rule, directive)
        if let destinations = rule.destinations {
            guard hasRoom(for: rule, directive) else { return }
            if !rule.isForDestinationsAlone { note(directive, "Larder denies these addresses to every request") }
            deniedAddresses += destinations
            return
        }
        if rule.deniesOtherForms { note(directive, "Larder also denies tunnels and https URLs, which a rule cannot tell apart") }
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
            "not imported, and no later line allows anything: the settings would have more than \(PolicyToolLimits.importedRules) rules, "
                + "or more than \(PolicyToolLimits.importedLength) bytes")
        close(by: directive)
        return false
    }

    /// Names the first line that allows requests which Larder denies because of this one.
    private mutating func compare(_ rule: SquidRule, _ directive: SquidDirective) {
        let found = comparison.firstOverlap(of: rule, with: rules)
        if let line = found {
            note(directive, "Larder also denies the requests that line \(line) allows, because a rule that denies always wins")
        } else if comparison.isSpent {
            note(directive, "not compared with earlier lines, because they are too many. Larder also denies what they allow")
        }
    }
}
