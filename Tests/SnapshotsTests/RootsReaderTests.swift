import Foundation
import Testing
@testable import Snapshots

@Suite("Independent reader")
struct RootsReaderTests {
    static let reader = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Long/snapshot_roots.py").path

    @Test(
        "A reader in Python with its own SQLite computes both roots",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")), arguments: [0, 1, 255, 256, 700])
    func computesRoots(count: Int) throws {
        let fixture = SnapshotFixture()
        var exchanges = (0..<count).map { Exchange("http://a:80/\($0)", "body \($0 % 11)") }
        if count > 1 {
            exchanges[1].earlyHints = [[("Link", "</b>"), ("date", "x"), ("A", "")], [], [("Link", "</a>")]]
            exchanges[1].fields += [("Date", "Mon, 23 Nov 2026 06:23:20 GMT"), ("x-b", "2"), ("X-A", ""), ("Set-Cookie", "a=b")]
        }
        try fixture.write(exchanges)
        let roots = try fixture.write(Array(exchanges.prefix(1)), existing: .append)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [Self.reader, fixture.path]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(output == "content \(roots.content.octets.hexadecimal)\nfull \(roots.full.octets.hexadecimal)\n")
    }
}

extension Array<UInt8> {
    fileprivate var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
