import Foundation
import Testing

@Suite("docs/requirements.tsv")
struct RequirementsTests {
    private static let rows = table("docs/requirements.tsv")

    /// The sentences that Tests/Requirements/number_sentences.py found in the caching RFCs.
    private static let sentences = table("Tests/Requirements/sentences.tsv")

    /// `Suite/test` for every suite and function of every test file.
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

    /// The RFCs whose requirement sentences are all numbered.
    private static let numberedRFCs: Set = ["9111", "5861", "8246", "9211", "9213"]

    /// A folder with the published RFCs as plain text.
    private static let texts = ProcessInfo.processInfo.environment["RFC_TEXTS"]

    @Test("Each row has a unique id made of RFC and section, a requirement, and its tests")
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

    @Test("Every requirement sentence of the caching RFCs has a row, and every numbered row has a sentence")
    func coversEverySentence() {
        #expect(Self.sentences.first == ["id", "words", "beginning", "digest"])
        let sentences = Set(Self.sentences.dropFirst().map { $0[0] })
        #expect(sentences.count > 100)
        #expect(sentences.subtracting(Self.rows.map { $0[0] }).sorted() == [])
        for row in Self.rows.dropFirst() where Self.numberedRFCs.contains(row[1]) {
            // An id that ends in a letter is a requirement that the RFC states without a keyword.
            let isBesideTheCount = row[0].split(separator: "-").last?.first?.isLetter == true
            #expect(isBesideTheCount || sentences.contains(row[0]), "\(row[0])")
        }
    }

    @Test("Each numbered sentence has its keywords, its beginning and its digest, and occurs once")
    func numbersSentences() throws {
        let sentences = Self.sentences.dropFirst()
        for sentence in sentences {
            try #require(sentence.count == 4, "\(sentence)")
            let parts = sentence[0].split(separator: "-")
            #expect(parts.count == 3 && Self.numberedRFCs.contains(String(parts[0])), "\(sentence[0])")
            let words = sentence[1].split(separator: ", ").map(String.init)
            #expect(
                !words.isEmpty && words.allSatisfy { $0.wholeMatch(of: /MUST|MUST NOT|SHOULD|SHOULD NOT|MAY|OPTIONAL/) != nil })
            #expect(sentence[3].wholeMatch(of: /[0-9a-f]{12}/) != nil, "\(sentence[0])")
        }
        #expect(Set(sentences.map { $0[0] }).count == sentences.count)
        #expect(Self.numberedRFCs == Set(sentences.map { String($0[0].prefix { $0 != "-" }) }))
    }

    @Test("The published RFCs contain these sentences", .enabled(if: texts != nil, "RFC_TEXTS names no folder with the RFCs"))
    func agreesWithTheTexts() throws {
        let script = Process()
        script.executableURL = URL(filePath: "/usr/bin/env")
        script.arguments = [
            "python3", Repository.root.appending(path: "Tests/Requirements/number_sentences.py").path, try #require(Self.texts),
            "--check",
        ]
        try script.run()
        script.waitUntilExit()
        #expect(script.terminationStatus == 0)
    }

    @Test("Every row names existing tests, or gives a reason why the requirement does not apply")
    func namesTestsThatExist() {
        for row in Self.rows.dropFirst() where row[4].wholeMatch(of: /not ours: .+/) == nil {
            for name in row[4].split(separator: ", ") {
                #expect(Self.tests.contains(String(name)), "\(row[0]): \(name)")
            }
        }
    }
}
