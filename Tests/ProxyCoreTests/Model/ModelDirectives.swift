/// Cache-Control (RFC 9111 §5.2): `cache-directive = token [ "=" ( token / quoted-string ) ]`.
struct ModelDirectives: Equatable {
    private struct Directive: Equatable {
        let name: String
        let argument: String?
    }

    /// The value of a numeric directive.
    enum Number: Equatable {
        case absent
        /// Present but invalid, or with two different numbers.
        case invalid
        case seconds(Int)

        var seconds: Int? { if case .seconds(let seconds) = self { seconds } else { nil } }
        var isPresent: Bool { self != .absent }
    }

    private var directives: [Directive] = []

    init(_ fields: ModelFields) { self.init(fields.values("cache-control")) }

    /// "combining multiple header field lines with the same field name" (RFC 9110 §5.3) is done first.
    init(_ lines: [String]) {
        for member in ModelText.members(lines.joined(separator: ", ")) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = ModelText.trimmed(parts[0]).lowercased()
            directives.append(Directive(name: name, argument: parts.count == 2 ? ModelText.unquoted(String(parts[1])) : nil))
        }
    }

    var isEmpty: Bool { directives.isEmpty }

    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// For `no-cache` and `private`: without field names, or with an empty list, which restricts most.
    func hasUnqualified(_ name: String) -> Bool {
        directives.contains { $0.name == name && ModelText.members($0.argument ?? "").isEmpty }
    }

    /// The field names that `no-cache` or `private` lists, in lower case.
    func fieldNames(_ name: String) -> [String] {
        var names: [String] = []
        for directive in directives where directive.name == name {
            names += ModelText.members(directive.argument ?? "").map { $0.lowercased() }
        }
        return names
    }

    /// §4.2.1: "either the first occurrence should be used, or the response should be considered stale"; ours is stale. So are invalid
    /// values: "Caches are encouraged to consider responses that have invalid freshness information […] to be stale".
    func number(_ name: String) -> Number {
        var number = Number.absent
        for directive in directives where directive.name == name {
            guard let seconds = ModelText.deltaSeconds(directive.argument ?? "") else { return .invalid }
            if number != .absent, number != .seconds(seconds) { return .invalid }
            number = .seconds(seconds)
        }
        return number
    }

    /// All valid numbers of a request directive or extension that occurs several times.
    func numbers(_ name: String) -> [Int] {
        directives.filter { $0.name == name }.compactMap { ModelText.deltaSeconds($0.argument ?? "") }
    }

    /// Whether it occurs without an argument.
    func hasWithoutArgument(_ name: String) -> Bool { directives.contains { $0.name == name && $0.argument == nil } }
}
