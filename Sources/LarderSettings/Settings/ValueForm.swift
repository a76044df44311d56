import ProxyPolicy
import TextCoding

/// A form of values: how a value of this form is read, shown, and described to editors and users.
package struct ValueForm<Value: Sendable>: Sendable {
    /// The form as text for the documentation: "a size with its unit, such as 16MiB".
    let about: String
    let schema: JSONText
    /// Reads a value. Adds a problem and returns `nil` if the value is invalid.
    let read: @Sendable (_ cursor: SettingsCursor, _ problems: inout SettingsProblems) -> Value?
    let show: @Sendable (Value) -> ShownValue
}

extension ValueForm {
    /// A form for the text of a scalar. `parse` returns `nil` for an invalid text.
    /// - Parameter isSecret: whether messages omit the value, which may contain a password.
    static func text(
        _ about: String, schema: JSONText, isSecret: Bool = false, parse: @escaping @Sendable (String) -> Value?,
        show: @escaping @Sendable (Value) -> ShownValue
    ) -> ValueForm {
        ValueForm(
            about: about, schema: schema,
            read: { cursor, problems in
                guard let text = cursor.text(problems: &problems) else { return nil }
                if let value = parse(text) { return value }
                let found = isSecret ? "" : ", found `\(printable(text))`"
                cursor.report("expected \(about)\(found)", to: &problems)
                return nil
            }, show: show)
    }

    /// A form in which one word means "none".
    static func optional<Wrapped>(
        _ form: ValueForm<Wrapped>, or word: String, meaning: String
    ) -> ValueForm where Value == Wrapped? {
        ValueForm(
            about: "\(form.about), or `\(word)` (\(meaning))",
            schema: .object([("anyOf", .array([form.schema, .object([("const", .string(word))])]))]),
            read: { cursor, problems in
                if case .scalar(let scalar) = cursor.node.value, scalar.text == word { return .some(.none) }
                return form.read(cursor, &problems).map { .some($0) }
            },
            show: { $0.map(form.show) ?? .plain(word) })
    }

    static func list<Element>(of form: ValueForm<Element>) -> ValueForm where Value == [Element] {
        ValueForm(
            about: "a list; each entry is \(form.about)", schema: .object([("type", .string("array")), ("items", form.schema)]),
            read: { cursor, problems in
                guard let elements = cursor.list(problems: &problems) else { return nil }
                let values = elements.compactMap { form.read($0, &problems) }
                return values.count == elements.count ? values : nil
            },
            show: { .list($0.map(form.show)) })
    }
}

extension ValueForm where Value == Bool {
    static let boolean = ValueForm(
        about: "`true` or `false`", schema: .object([("type", .string("boolean"))]),
        read: { $0.boolean(problems: &$1) }, show: { .plain("\($0)") })
}

extension ValueForm where Value == Int {
    static func number(_ range: ClosedRange<Int>) -> ValueForm {
        ValueForm(
            about: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            schema: .object([
                ("type", .string("integer")), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound)),
            ]),
            read: { $0.integer(in: Int64(range.lowerBound)...Int64(range.upperBound), problems: &$1).map { Int($0) } },
            show: { .plain("\($0)") })
    }
}

extension ValueForm where Value == UInt64 {
    /// The form of a number of bytes.
    static func size(_ range: ClosedRange<UInt64> = 0...(1 << 50)) -> ValueForm {
        var about = "a size such as 16MiB"
        if range.lowerBound > 0 { about += ", at least \(SettingsQuantity.text(ofBytes: range.lowerBound))" }
        if range.upperBound < 1 << 50 { about += ", at most \(SettingsQuantity.text(ofBytes: range.upperBound))" }
        return ValueForm(
            about: about, schema: .numberOrPattern(#"^[0-9]+(\.[0-9]+)? ?([KMGT]iB|[kMGT]?B)?$"#),
            read: { $0.byteCount(in: range, problems: &$1) }, show: { .plain(SettingsQuantity.text(ofBytes: $0)) })
    }
}

extension ValueForm where Value == Duration {
    static func time(_ range: ClosedRange<Int64> = 1...(365 * 86_400_000)) -> ValueForm {
        ValueForm(
            about: "a time such as 30s", schema: .numberOrPattern(#"^[0-9]+(\.[0-9]+)? ?(ms|s|m|h|d)?$"#),
            read: { $0.milliseconds(in: range, problems: &$1).map { .milliseconds($0) } },
            show: { .plain(SettingsQuantity.text(ofMilliseconds: $0.wholeMilliseconds)) })
    }
}

extension ValueForm where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// The form of one word of an enumeration. The error for a misspelled word suggests the most similar word.
    /// - Parameter other: another valid word, which the caller reads; the message lists it too.
    static func word(besides other: String? = nil) -> ValueForm {
        let words = Value.allCases.map(\.rawValue)
        let allowed = words + (other.map { [$0] } ?? [])
        let expected = "one of \(allowed.joined(separator: ", "))"
        return ValueForm(
            about: "one of " + words.map { "`\($0)`" }.joined(separator: ", "),
            schema: .object([("enum", .array(words.map(JSONText.string)))]),
            read: { cursor, problems in
                guard let text = cursor.text(problems: &problems) else { return nil }
                if let value = Value(rawValue: text) { return value }
                cursor.report(
                    "expected \(expected), found `\(printable(text))`", suggestion: NearestName.of(text, among: allowed),
                    to: &problems)
                return nil
            }, show: { .plain($0.rawValue) })
    }
}

extension Duration {
    package var wholeMilliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
