import Testing

@Suite("docs/requirements.tsv")
struct RequirementsTests {
    private static let rows = Repository.files(below: "docs/requirements.tsv").flatMap(\.lines).filter { !$0.isEmpty }
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }

    /// `Suite/test` for every suite and function of every file of tests.
    private static let tests = Set(
        Repository.files(below: "Tests").filter { $0.path.hasSuffix("Tests.swift") }.flatMap { file in
            let suites = file.lines.compactMap { $0.prefixMatch(of: /struct (\w+)/)?.1 }
            let functions = file.lines.compactMap { $0.prefixMatch(of: /\s+func (\w+)/)?.1 }
            return suites.flatMap { suite in functions.map { "\(suite)/\($0)" } }
        })

    @Test("Each row has an id of its own made of RFC and section, a requirement, and its tests")
    func isWellFormed() {
        #expect(Self.rows.first == ["id", "RFC", "section", "requirement", "test"])
        let rows = Self.rows.dropFirst()
        #expect(rows.count > 100)
        for row in rows {
            #expect(row.count == 5 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(row[0].hasPrefix("\(row[1])-\(row[2])-"), "\(row[0])")
        }
        #expect(Set(rows.map { $0[0] }).count == rows.count)
    }

    @Test("Every test that is named there exists")
    func namesTestsThatExist() {
        for row in Self.rows.dropFirst() {
            for name in row[4].split(separator: ", ") {
                #expect(Self.tests.contains(String(name)), "\(row[0]): \(name)")
            }
        }
    }
}
