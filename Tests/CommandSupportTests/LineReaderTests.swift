import Foundation
import TestSupport
import Testing

@testable import CommandSupport

@Suite("Reading a long file by lines")
struct LineReaderTests {
    private func lines(_ text: String, limit: Int) throws -> [LineReader.Line] {
        let folder = try TemporaryFolder()
        var reader = try LineReader(path: try folder.write(text, to: "file"), limit: limit)
        var lines: [LineReader.Line] = []
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    @Test("Each line is returned once, the last one even without its line end")
    func reads() throws {
        func whole(_ text: String) -> LineReader.Line { .whole(Array(text.utf8)) }
        #expect(try lines("", limit: 10) == [])
        #expect(try lines("a\n\nbc", limit: 10) == [whole("a"), whole(""), whole("bc")])
        #expect(try lines("a\nb\n", limit: 10) == [whole("a"), whole("b")])
        let long = (0..<5).map { String(repeating: "\($0)", count: 50_000) }
        #expect(try lines(long.joined(separator: "\n"), limit: 50_000) == long.map(whole))
    }

    @Test("A line longer than the limit is skipped, however many reads it takes", arguments: [11, 300_000])
    func passesOver(count: Int) throws {
        let long = String(repeating: "x", count: count)
        #expect(try lines("\(long)\nshort\n", limit: 10) == [.tooLong, .whole(Array("short".utf8))])
        #expect(try lines("0123456789\n\(long)", limit: 10) == [.whole(Array("0123456789".utf8)), .tooLong])
    }
}
