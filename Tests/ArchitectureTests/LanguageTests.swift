import Foundation
import Testing

/// Checks what users and programs read. The scripts read the sources; each also runs on its own and prints how to use it.
@Suite("Texts and names")
struct LanguageTests {
    private static func output(of script: String, _ arguments: String...) throws -> (text: String, code: Int32) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Repository.root.appending(path: "scripts/\(script)").path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (text, process.terminationStatus)
    }

    @Test("User-facing texts contain no word of scripts/language-words.txt, and comments contain no more of them than before")
    func usesPlainWords() throws {
        let (text, code) = try Self.output(of: "check-language")
        #expect(code == 0 && text.isEmpty, "\(text)")
    }

    @Test("The binary has the page's files as they are in Sources/ProxyAdmin/Page/Files")
    func embedsThePage() throws {
        let (text, code) = try Self.output(of: "page-files.py", "--check")
        #expect(code == 0 && text.isEmpty, "\(text)")
    }

    /// `scripts/names --write` updates the record after a change.
    @Test("Codes, enumerated values, JSON members, options and exit codes match the record")
    func keepsNames() throws {
        let (text, code) = try Self.output(of: "names")
        let names = Set(text.split(separator: "\n"))
        let recorded = Set(Repository.files(below: "Tests/ArchitectureTests/names.tsv").flatMap(\.lines).filter { !$0.isEmpty })
        #expect(code == 0 && names.count > 2000)
        for name in names.symmetricDifference(recorded).sorted() {
            Issue.record("\(recorded.contains(name) ? "gone" : "new"): \(name)")
        }
    }
}
