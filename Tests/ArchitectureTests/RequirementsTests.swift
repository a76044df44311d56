import Testing

@Suite("docs/requirements.tsv")
struct RequirementsTests {
    private static let rows = table("docs/requirements.tsv")

    /// What Tests/Requirements/number_sentences.py found in the RFCs about caching.
    private static let sentences = table("Tests/Requirements/sentences.tsv")

    /// `Suite/test` for every suite and function of every file of tests.
    private static let tests = Set(
        Repository.files(below: "Tests").filter { $0.path.hasSuffix("Tests.swift") }.flatMap { file in
            let suites = file.lines.compactMap { $0.prefixMatch(of: /struct (\w+)/)?.1 }
            let functions = file.lines.compactMap { $0.prefixMatch(of: /\s+func (\w+)/)?.1 }
            return suites.flatMap { suite in functions.map { "\(suite)/\($0)" } }
        })

    private static func table(_ path: String) -> [[String]] {
        Repository.files(below: path).flatMap(\.lines).filter { !$0.isEmpty }
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
    }

    /// The sections whose sentences are numbered whole: RFC 9111 §3 to §5, and the RFCs beside it.
    private static func isNumberedWhole(rfc: String, section: String) -> Bool {
        switch rfc {
        case "9111": ["3", "4", "5"].contains(section.prefix { $0 != "." })
        case "5861", "8246", "9211", "9213": true
        default: false
        }
    }

    @Test("Each row has an id of its own made of RFC and section, a requirement, and its tests")
    func isWellFormed() {
        #expect(Self.rows.first == ["id", "RFC", "section", "requirement", "test"])
        let rows = Self.rows.dropFirst()
        #expect(rows.count > 200)
        for row in rows {
            #expect(row.count == 5 && row.allSatisfy { !$0.isEmpty }, "\(row)")
            #expect(row[0].hasPrefix("\(row[1])-\(row[2])-"), "\(row[0])")
        }
        #expect(Set(rows.map { $0[0] }).count == rows.count)
    }

    @Test("Every sentence of the RFCs about caching has its row, and every numbered row its sentence")
    func coversEverySentence() {
        #expect(Self.sentences.first == ["id", "words", "beginning", "digest"])
        let sentences = Set(Self.sentences.dropFirst().map { $0[0] })
        #expect(sentences.count > 100)
        #expect(sentences.subtracting(Self.rows.map { $0[0] }).sorted() == [])
        for row in Self.rows.dropFirst() where Self.isNumberedWhole(rfc: row[1], section: row[2]) {
            // A letter alone marks what the text says without one of the words that are counted.
            let isBesideTheCount = row[0].split(separator: "-").last?.first?.isLetter == true
            #expect(isBesideTheCount || sentences.contains(row[0]), "\(row[0])")
        }
    }

    @Test("Every row names tests that exist, or says why it is not ours")
    func namesTestsThatExist() {
        for row in Self.rows.dropFirst() where row[4].wholeMatch(of: /not ours: .+/) == nil {
            for name in row[4].split(separator: ", ") {
                #expect(Self.tests.contains(String(name)), "\(row[0]): \(name)")
            }
        }
    }
}
