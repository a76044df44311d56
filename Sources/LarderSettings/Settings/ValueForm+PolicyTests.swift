import PolicyTools
import TextCoding

extension ValueForm where Value == LarderSettings.Tests {
    static let tests = ValueForm(
        about: "a list of tests, see [policy.md](policy.md#tests)",
        schema: .object([("type", .string("array")), ("items", .object([("type", .string("object"))]))]),
        read: { cursor, problems in
            PolicyTest.parse(cursor, problems: &problems).map { LarderSettings.Tests(node: cursor.node, read: $0) }
        },
        // Values are redacted, because the fields of a request in a test may hold secrets.
        show: { $0.node.map(RedactedRules.show) ?? .list([]) })
}
