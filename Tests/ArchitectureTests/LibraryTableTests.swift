import Testing

@Suite("docs/library-features.md")
struct LibraryTableTests {
    /// The cells of the table rows under the heading of features.
    private static let rows: [[Substring]] = {
        let lines = Repository.files(below: "docs/library-features.md").flatMap(\.lines)
        let table = lines.drop { !$0.hasPrefix("## Features, with") }.filter { $0.hasPrefix("| ") }
        return table.dropFirst(2).map { $0.split(separator: "|").map { $0.drop { $0 == " " } } }
    }()

    private static func names(_ cell: Substring) -> [Substring] {
        cell.split(separator: "`").enumerated().filter { $0.offset % 2 == 0 }.map(\.element).filter {
            !$0.allSatisfy(\.isWhitespace)
        }
    }

    @Test("Each feature names an existing type and an existing test")
    func namesWhatIsThere() {
        let types = Set(
            Repository.sources.flatMap { $0.code }.compactMap { line in
                line.text.contains("public")
                    ? line.text.firstMatch(of: /public (?:final |indirect )?(?:struct|class|enum|protocol|actor) (\w+)/)?.1 : nil
            })
        let tests = Set(
            Repository.files(below: "Tests").filter { $0.path.hasSuffix("Tests.swift") }.flatMap { file in
                let suites = file.lines.compactMap { $0.prefixMatch(of: /struct (\w+)/)?.1 }
                let functions = file.lines.compactMap { $0.contains("func ") ? $0.prefixMatch(of: /\s+func (\w+)/)?.1 : nil }
                return suites.flatMap { suite in functions.map { "\(suite)/\($0)" } }
            })
        #expect(Self.rows.count > 40)
        for row in Self.rows {
            guard row.count == 3 else {
                Issue.record("not three cells: \(row)")
                continue
            }
            for type in Self.names(row[1]) { #expect(types.contains(type), "\(row[0]): no public type \(type)") }
            for test in Self.names(row[2]) { #expect(tests.contains(String(test)), "\(row[0]): no test \(test)") }
            #expect(!Self.names(row[1]).isEmpty && !Self.names(row[2]).isEmpty, "\(row[0]): neither type nor test")
        }
    }
}
