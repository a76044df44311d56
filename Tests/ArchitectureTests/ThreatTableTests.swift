import Testing

@Suite("docs/threats.md")
struct ThreatTableTests {
    private struct Row {
        let number: String
        let cells: [Substring]
    }

    /// The rows of all tables of the page.
    private static let rows: [Row] = Repository.files(below: "docs/threats.md").flatMap(\.lines).compactMap { line in
        let cells = line.split(separator: "|").map { $0.trimmingPrefix { $0 == " " } }
        guard line.hasPrefix("| "), let first = cells.first, let number = numbers(in: first).first else { return nil }
        return Row(number: number, cells: cells)
    }

    /// Words that look like a threat number: Amazon S3, the control sets C0 and C1.
    private static let words: Set = ["S3", "C0"]

    /// The words of a line that are a letter of the page and one or two digits.
    private static func numbers(in line: Substring) -> [String] {
        let words = line.utf8.split { byte in
            !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "_") || byte >= 0x80)
        }
        return words.compactMap { word in
            guard 2...3 ~= word.count, "TCRSV".utf8.contains(word.first!),
                word.dropFirst().allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
            else { return nil }
            return String(Substring(word))
        }
    }

    /// Threat numbers in comments and names of tests, and T numbers in scripts and other pages.
    private static func numbers(in file: Repository.SourceFile) -> [(line: Int, number: String)] {
        let isSwift = file.path.hasSuffix(".swift")
        return file.lines.enumerated().flatMap { index, line -> [(Int, String)] in
            let text = line.drop { $0 == " " }
            guard
                !isSwift || text.hasPrefix("/") || text.hasPrefix("\"") || text.hasPrefix("@Test(\"")
                    || text.hasPrefix("@Suite(\"")
            else { return [] }
            let found = numbers(in: text).filter { isSwift || $0.hasPrefix("T") && $0.count == 3 }
            return found.filter { !words.contains($0) }.map { (index + 1, $0) }
        }
    }

    @Test("Each threat number in the sources, the tests and the other pages has a row", arguments: ["Sources", "Tests", "docs"])
    func listsEveryNumber(place: String) {
        let listed = Set(Self.rows.map(\.number))
        let endings = [".swift", ".sh", ".py", ".md", ".tsv"]
        var count = 0
        for file in Repository.files(below: place) where endings.contains(where: file.path.hasSuffix) {
            // This folder has the texts of the tests below.
            guard !file.path.hasPrefix("Tests/ArchitectureTests/"), file.path != "docs/threats.md" else { continue }
            for (line, number) in Self.numbers(in: file) {
                count += 1
                if !listed.contains(number) { Issue.record("\(file):\(line): \(number) is not in docs/threats.md") }
            }
        }
        #expect(count > 0)
    }

    @Test("Each row has a threat, a defense, and existing tests or a reason for none, and no number occurs twice")
    func namesTestsThatExist() {
        #expect(Self.rows.count > 80)
        #expect(Set(Self.rows.map(\.number)).count == Self.rows.count)
        for row in Self.rows {
            guard row.cells.count == 4, row.cells.allSatisfy({ $0.contains { $0 != " " } }) else {
                Issue.record("\(row.number): not four cells")
                continue
            }
            if row.cells[3].wholeMatch(of: /no test: .+/) != nil { continue }
            for problem in Self.problems(row.cells[3], of: row.number) { Issue.record("\(problem)") }
        }
    }

    /// A path below `Tests`, followed by functions of that file or words of a script.
    private static func problems(_ cell: Substring, of number: String) -> [String] {
        var path = ""
        var text: [Substring] = []
        var problems: [String] = []
        var isNamed = false
        for name in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter({ $0.offset % 2 == 1 }) {
            if name.element.contains("/") {
                path = "Tests/\(name.element)"
                text = Repository.files(below: path).flatMap(\.lines)
                if text.isEmpty { problems.append("\(number): no file \(path)") }
            } else {
                isNamed = true
                let sought = path.hasSuffix(".swift") ? " func \(name.element)(" : String(name.element)
                if !text.contains(where: { $0.contains(sought) }) { problems.append("\(number): no \(name.element) in \(path)") }
            }
        }
        return isNamed ? problems : problems + ["\(number): no test is named, and no reason why"]
    }

    @Test(
        "The search finds threat numbers and nothing else",
        arguments: [
            ("/// It is refused (T03, T04).", ["T03", "T04"]), ("\"T10 to T12 inside\"", ["T10", "T12"]), ("C9: x", ["C9"]),
            ("2026-11-24T10:00", []), ("RFC 9112 §5", []), ("T100 CT03 T_03 t03 C", []), ("", []),
        ])
    func findsNumbers(line: String, numbers: [String]) { #expect(Self.numbers(in: line[...]) == numbers) }

    @Test(
        "The check finds a missing test, a missing file and an empty cell",
        arguments: [
            ("`ArchitectureTests/ThreatTableTests.swift`: `findsNumbers`", 0),
            ("`ArchitectureTests/ThreatTableTests.swift`: `findsNobody`", 1), ("`ArchitectureTests/None.swift`: `any`", 2),
            ("none", 1), ("`ArchitectureTests/ThreatTableTests.swift`", 1),
        ])
    func findsProblems(cell: String, count: Int) { #expect(Self.problems(cell[...], of: "T00").count == count) }
}
