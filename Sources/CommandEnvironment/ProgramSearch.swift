import Foundation

/// Finds a program as a shell does.
package enum ProgramSearch: Equatable {
    case found(String)
    /// The file exists, but is not executable.
    case notExecutable
    case missing

    /// The exit code of shells for a program that cannot be run.
    package static let notExecutableCode: Int32 = 126
    package static let missingCode: Int32 = 127
    /// The exit code with which programs that start other programs report their own failure.
    package static let failureCode: Int32 = 125

    /// - Parameter path: `PATH`; an empty part means the working folder (POSIX, XBD 8.3).
    init(_ name: String, path: String?) {
        if name.isEmpty {
            self = .missing
            return
        }
        if name.contains("/") {
            self = Self.look(at: name)
            return
        }
        var result = ProgramSearch.missing
        for folder in (path ?? Self.usualPath).split(separator: ":", omittingEmptySubsequences: false) {
            let found = Self.look(at: folder.isEmpty ? "./\(name)" : "\(folder)/\(name)")
            if case .found = found {
                self = found
                return
            }
            if found == .notExecutable { result = .notExecutable }
        }
        self = result
    }

    private static let usualPath = "/usr/local/bin:/usr/bin:/bin"

    private static func look(at place: String) -> ProgramSearch {
        var facts = stat()
        guard stat(place, &facts) == 0 else { return errno == EACCES ? .notExecutable : .missing }
        let isFile = facts.st_mode & S_IFMT == S_IFREG
        return isFile && access(place, X_OK) == 0 ? .found(place) : .notExecutable
    }
}
