import Testing

@Suite("docs/requirements.tsv")
struct RequirementsTests {
    private static let rows = Repository.files(below: "docs/requirements.tsv").flatMap(\.lines).filter { !$0.isEmpty }
        .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }

    private static let testFiles = Repository.files(below: "Tests").filter { $0.path.hasSuffix("Tests.swift") }

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
                let parts = name.split(separator: "/")
                guard parts.count == 2 else {
                    Issue.record("\(row[0]): \(name) is no suite and test")
                    continue
                }
                let exists = Self.testFiles.contains { file in
                    file.lines.contains { $0.hasPrefix("struct \(parts[0]) ") }
                        && file.lines.contains { $0.contains("func \(parts[1])(") }
                }
                #expect(exists, "\(row[0]): \(name)")
            }
        }
    }
}
