/// A value of a settings file, with its place in the file. The code that reads the source (YAML or an environment variable) makes it.
package struct SettingsNode: Equatable, Sendable {
    package enum Value: Equatable, Sendable {
        case scalar(SettingsScalar)
        case sequence([SettingsNode])
        /// The entries in the order of the file. A key may occur twice, which is reported when the mapping is read.
        case mapping([Entry])
    }

    /// One `key: value` of a mapping.
    package struct Entry: Equatable, Sendable {
        package let key: String
        package let keyPlace: SettingsPlace
        package let value: SettingsNode

        package init(key: String, at keyPlace: SettingsPlace, value: SettingsNode) {
            self.key = key
            self.keyPlace = keyPlace
            self.value = value
        }
    }

    package let value: Value
    package let place: SettingsPlace

    package init(_ value: Value, at place: SettingsPlace) {
        self.value = value
        self.place = place
    }

    /// The kind of the value as messages name it, such as "expected a list, found a text".
    package var kindName: String {
        switch value {
        case .scalar(let scalar): scalar.isNull ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

/// A place in a settings file. Line and column are counted from 1; a value that is not from a file has 0:0.
package struct SettingsPlace: Equatable, Comparable, Sendable {
    /// The number of an included file; 0 for the file that includes it.
    package let file: Int
    package let line: Int
    package let column: Int

    package init(file: Int = 0, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    package static let none = SettingsPlace(line: 0, column: 0)

    package static func < (left: SettingsPlace, right: SettingsPlace) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

/// A scalar as it is written. The setting to which it belongs determines its meaning.
package struct SettingsScalar: Equatable, Sendable {
    package let text: String
    /// Whether the scalar is quoted or in block style. Then it is a text, even if it looks like a number.
    package let isQuoted: Bool

    package init(_ text: String, isQuoted: Bool = false) {
        self.text = text
        self.isQuoted = isQuoted
    }

    /// Whether YAML's core schema reads the scalar as null.
    package var isNull: Bool {
        // A file has many scalars, and nearly all of them are longer than any form of null.
        if isQuoted || text.utf8.count > 4 { return false }
        switch text {
        case "", "~", "null", "Null", "NULL": return true
        default: return false
        }
    }
}
