import Testing

/// The tables of docs/library.md whose columns are "Feature", "Where" and "Test".
@Suite("docs/library.md")
struct LibraryTableTests {
    private static let rows: [[Substring]] = {
        var rows: [[Substring]] = []
        var isInside = false
        for line in Repository.files(below: "docs/library.md").flatMap(\.lines) {
            guard line.hasPrefix("|") else {
                isInside = false
                continue
            }
            let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
            if isInside, cells.count == 3, !line.hasPrefix("| ---") { rows.append(cells) }
            if cells.map({ $0.prefix { $0 != " " } }) == ["Feature", "Where", "Test"] { isInside = true }
        }
        return rows
    }()

    private static func names(in cell: Substring) -> [String] { cell.matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// What is declared in the sources: types, functions, properties and cases.
    private static let declared = Set(
        Repository.sources.flatMap(\.lines).flatMap { line in
            line.matches(of: /\b(?:struct|enum|class|protocol|func|var|let|case|typealias) (\w+)/).map { String($0.1) }
        })

    private static let tests = Set(
        Repository.files(below: "Tests").filter { $0.path.hasSuffix("Tests.swift") }.flatMap { file in
            let suites = file.lines.compactMap { $0.prefixMatch(of: /struct (\w+)/)?.1 }
            let functions = file.lines.compactMap { $0.prefixMatch(of: /\s+func (\w+)/)?.1 }
            return suites.flatMap { suite in functions.map { "\(suite)/\($0)" } }
        })

    @Test("Each feature names what has it and the tests that prove it, and all of these are there")
    func namesWhatExists() {
        #expect(Self.rows.count > 40)
        for row in Self.rows {
            let (places, tests) = (Self.names(in: row[1]), Self.names(in: row[2]))
            #expect(!places.isEmpty && !tests.isEmpty, "\(row)")
            for place in places {
                for part in place.split(whereSeparator: { ".(:,)".contains($0) }).prefix(2) {
                    #expect(Self.declared.contains(String(part)), "\(row[0]): \(place)")
                }
            }
            for test in tests { #expect(Self.tests.contains(test), "\(row[0]): \(test)") }
        }
    }
}
