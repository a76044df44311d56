/// An error in the settings: a message, with the path of the value, its place in the file, and a suggestion.
package struct SettingsProblem: Equatable, Sendable {
    package let message: String
    /// The path of the value in the settings, for example `rules[2].match.host`; empty for the whole file.
    package let path: String
    package let place: SettingsPlace
    /// The most similar valid name, if one is similar enough.
    package let suggestion: String?

    package init(_ message: String, path: String, at place: SettingsPlace, suggestion: String? = nil) {
        self.message = message
        self.path = path
        self.place = place
        self.suggestion = suggestion
    }

    package var line: Int { place.line }
    package var column: Int { place.column }

    /// The problem as one line in the form that compilers use, so that editors can jump to the place.
    package func rendered(file: String) -> String {
        let hint = suggestion.map { "; did you mean `\($0)`?" } ?? ""
        let subject = path.isEmpty ? "" : "\(path): "
        return "\(file):\(line):\(column): \(subject)\(message)\(hint)"
    }
}

/// Every problem of one file, in the order of the file.
package struct SettingsProblems: Error, Equatable, Sendable {
    private var found: [SettingsProblem] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }
    package var count: Int { found.count }
    package var all: [SettingsProblem] { found.sorted { $0.place < $1.place } }

    package mutating func add(_ problem: SettingsProblem) { found.append(problem) }

    package mutating func add(
        _ message: String, path: String, at place: SettingsPlace, suggestion: String? = nil
    ) {
        add(SettingsProblem(message, path: path, at: place, suggestion: suggestion))
    }
}
