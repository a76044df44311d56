import Foundation

/// The files of the repository as text. SwiftPM does not check the imports between modules in an incremental build, so the tests
/// read the sources themselves.
enum Repository {
    struct SourceFile: CustomStringConvertible, Sendable {
        /// The path from the repository's root, with `/` between its parts.
        let path: String
        let lines: [Substring]

        var description: String { path }

        /// The folder below `Sources`, which is the target's name.
        var module: String { String(path.split(separator: "/")[1]) }

        /// The lines that are not comments, with their numbers.
        var code: [(number: Int, text: Substring)] {
            lines.enumerated().compactMap { index, line in
                let text = line.drop { $0 == " " || $0 == "\t" }
                return text.hasPrefix("//") ? nil : (index + 1, text)
            }
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Every Swift file below `Sources`.
    static let sources = files(below: "Sources").filter { $0.path.hasSuffix(".swift") }

    /// The folders below `Sources` that contain Swift.
    static let modules = Set(sources.map(\.module)).sorted()

    /// Every text file below the folder, or the file itself. Empty if the folder does not exist.
    static func files(below folder: String) -> [SourceFile] {
        let start = root.appending(path: folder)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: start.path, isDirectory: &isFolder) else { return [] }
        guard isFolder.boolValue else { return read(folder).map { [$0] } ?? [] }
        let paths = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return paths.sorted().compactMap { read("\(folder)/\($0)") }
    }

    private static func read(_ path: String) -> SourceFile? {
        // A folder, or a file that is not UTF-8, is not a source.
        guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else { return nil }
        return SourceFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }
}
