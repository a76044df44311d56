import HTTPMessage

/// The edits that a rule makes to the fields of a request or a response, in this order: `remove`, `default`, `set`, `append`.
///
/// Names and values are checked when the settings are read: no edit can end a field line, change a message's framing or change a
/// hop-by-hop field (T16 and T42 in docs/threats.md).
package struct FieldEdits: Sendable {
    package enum Kind: UInt8, CaseIterable, Sendable {
        case remove
        /// Adds the field only if the message does not have it.
        case `default`
        /// Replaces all lines of the field.
        case set
        /// Adds lines after the existing lines of the field.
        case append

        package var word: String {
            switch self {
            case .remove: "remove"
            case .default: "default"
            case .set: "set"
            case .append: "append"
            }
        }
    }

    package struct Edit: Sendable {
        package let kind: Kind
        package let name: FieldName
        /// The field's values, one for each line; empty for `remove`.
        package let values: [FieldValue]
    }

    package private(set) var edits: [Edit] = []

    package init() {}

    package var isEmpty: Bool { edits.isEmpty }

    /// Edits must be added in the order of `Kind`.
    mutating func add(_ kind: Kind, _ name: FieldName, _ values: [FieldValue]) {
        edits.append(Edit(kind: kind, name: name, values: values))
    }

    package func apply(to fields: inout Fields) {
        for edit in edits {
            switch edit.kind {
            case .remove: Self.remove(edit.name, from: &fields)
            case .default: if !Self.contains(edit.name, in: fields) { Self.append(edit, to: &fields) }
            case .set:
                Self.remove(edit.name, from: &fields)
                Self.append(edit, to: &fields)
            case .append: Self.append(edit, to: &fields)
            }
        }
    }

    private static func contains(_ name: FieldName, in fields: Fields) -> Bool {
        name.known == .other ? fields.index(ofName: name.bytes.span) != nil : fields.contains(name.known)
    }

    private static func remove(_ name: FieldName, from fields: inout Fields) {
        guard contains(name, in: fields) else { return }
        fields.remove { fields, line in name.names(line, of: fields) }
    }

    private static func append(_ edit: Edit, to fields: inout Fields) {
        for value in edit.values { fields.append(name: edit.name.bytes.span, value: value.bytes.span) }
    }
}
