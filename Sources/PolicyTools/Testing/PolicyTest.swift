import HTTPMessage
import ProxyPolicy

/// A test of a policy: an entry of `tests:` in the settings, with a request and the verdict that the policy must give.
package struct PolicyTest: Equatable, Sendable {
    /// The verdict that a test expects.
    package enum Expected: Equatable, Sendable {
        case allow
        /// The request is denied, for any reason.
        case deny
        case exactly(PolicyDecision.Word)

        var text: String {
            switch self {
            case .allow: "allow"
            case .deny: "deny"
            case .exactly(let word): word.rawValue
            }
        }

        func accepts(_ word: PolicyDecision.Word) -> Bool {
            switch self {
            case .allow: word == .allow
            case .deny: word != .allow && word != .ask
            case .exactly(let exact): word == exact
            }
        }
    }

    /// What a field of the request must be after the matching rules have edited the request.
    package struct Edit: Equatable, Sendable {
        let name: String
        /// The field's value; `nil` if the request has no such field.
        let value: String?
    }

    package let request: PolicyRequest
    package let expected: Expected
    /// The name of the rule that must decide. For an allowed request, it may also be another rule, which must match.
    package let rule: String?
    package let edits: [Edit]
    package let place: SettingsPlace

    /// The request as one line, for output.
    package var title: String { "\(request.method) \(request.target)" }
}

extension PolicyTest {
    private static let keys = ["request", "fields", "verdict", "rule", "edits", "client", "user", "certificate", "run"]

    private static let verdicts: KeyValuePairs<String, Expected> = [
        "allow": .allow, "deny": .deny, "ask": .exactly(.ask), "intercept": .exactly(.intercept),
        "denied_by_rule": .exactly(.deniedByRule),
        "egress_denied": .exactly(.egressDenied), "ambiguous_path": .exactly(.ambiguousPath),
    ]

    /// Reads the list under `tests`.
    /// - Returns: `nil` only if a problem was added.
    package static func parse(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [PolicyTest]? {
        guard let items = cursor.list(problems: &problems) else { return nil }
        guard items.count <= PolicyToolLimits.tests else {
            cursor.report("a settings file can have at most \(PolicyToolLimits.tests) tests", to: &problems)
            return nil
        }
        let tests = items.compactMap { PolicyTest(parsing: $0, problems: &problems) }
        return tests.count == items.count ? tests : nil
    }

    private init?(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard let mapping = cursor.mapping(of: Self.keys, problems: &problems) else { return nil }
        let before = problems.count
        let line = mapping.required("request", problems: &problems)
        let text = line.flatMap { $0.text(problems: &problems) }
        let verdict = mapping.required("verdict", problems: &problems)?.word(among: Self.verdicts, problems: &problems)
        rule = mapping["rule"]?.text(problems: &problems)
        let fields = mapping["fields"].map { Self.edits($0, problems: &problems) } ?? []
        for field in fields where field.value == nil {
            mapping["fields"]?.report("the field `\(field.name)` has no value", to: &problems)
        }
        edits = mapping["edits"].map { Self.edits($0, problems: &problems) } ?? []
        place = cursor.node.place
        let client = Self.client(mapping, problems: &problems)
        guard problems.count == before, let text, let line, let verdict else { return nil }
        guard text.utf8.count <= PolicyToolLimits.requestLength else {
            line.report("a request can have at most \(PolicyToolLimits.requestLength) bytes", to: &problems)
            return nil
        }
        do throws(PolicyRequest.Fault) {
            request = try PolicyRequest(text, fields: fields.map { "\($0.name): \($0.value ?? "")" }, from: client)
        } catch {
            line.report(error.reason, to: &problems)
            return nil
        }
        expected = verdict
    }

    /// The facts about the client that the test gives. Other facts are unknown.
    private static func client(_ mapping: SettingsMapping, problems: inout SettingsProblems) -> ClientFacts {
        var client = ClientFacts()
        if let cursor = mapping["client"], let text = cursor.text(problems: &problems) {
            client.address = IPAddress(text)
            if client.address == nil { cursor.report("the client of a test must be an IP address", to: &problems) }
        }
        client.user = Array((mapping["user"]?.text(problems: &problems) ?? "").utf8)
        client.run = Array((mapping["run"]?.text(problems: &problems) ?? "").utf8)
        let names = mapping["certificate"]?.oneOrMore(problems: &problems) ?? []
        client.certificateNames = names.compactMap { name in name.text(problems: &problems).map { Array($0.utf8) } }
        return client
    }

    /// Reads a mapping of field names to values. Null in place of a value means that the request must not have the field.
    private static func edits(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> [Edit] {
        var edits: [Edit] = []
        for entry in cursor.entries(problems: &problems) ?? [] {
            if FieldName(entry.key) == nil { entry.value.report("this key is not a valid field name", to: &problems) }
            edits.append(
                Edit(name: entry.key, value: entry.value.isNull ? nil : entry.value.text(problems: &problems)))
        }
        return edits
    }
}
