import Foundation
import HTTPMessage
import HTTPSerialization
import Testing
@testable import Snapshots

@Suite("HAR 1.2")
struct HARTests {
    static func export(_ snapshot: Snapshot) throws -> [UInt8] {
        var text: [UInt8] = []
        _ = try HARExport(snapshot, tool: (name: "larder", version: "test")).write { text += $0 }
        return text
    }

    /// In pieces of a fixed length.
    static func importing(_ text: [UInt8], to fixture: SnapshotFixture, piece: Int = 1000) throws -> HARImportReport {
        let writer = try SnapshotWriter(path: fixture.path, existing: .overwrite, tool: "test", now: Exchange.began)
        do {
            let reader = HARImport(try SnapshotRecorder(writer, key: SnapshotFixture.key))
            for start in stride(from: 0, to: text.count, by: piece) {
                try reader.append(Array(text[start..<min(start + piece, text.count)]).span)
            }
            try reader.finish()
            _ = try writer.finish()
            return reader.report
        } catch {
            writer.abandon()
            throw error
        }
    }

    @Test("An exported snapshot has the same content after import", arguments: [1, 7, 100_000])
    func roundTrip(piece: Int) throws {
        let fixture = SnapshotFixture()
        var exchanges = DamageTests.exchanges()
        exchanges[3].body = Array(0...255)
        exchanges.remove(at: 7)
        let roots = try fixture.write(exchanges)
        let text = try Self.export(Snapshot(path: fixture.path))
        let value = try JSONValue(parsing: text)
        #expect(value["log"]?["version"] == "1.2")
        #expect(value["log"]?["entries"]?.array?.count == exchanges.count)
        #expect(value["log"]?["entries"]?[0]?["startedDateTime"] == "2026-11-23T06:23:20.000Z")
        let again = SnapshotFixture()
        let report = try Self.importing(text, to: again, piece: piece)
        #expect(report == HARImportReport.all(exchanges.count))
        #expect(try Snapshot(path: again.path).roots.content == roots.content)
    }

    static func entry(_ request: String = "", _ response: String = "", status: Int = 200, url: String = "https://a.example/x?y#z")
        -> String
    {
        """
        {"startedDateTime":"2026-11-23T07:23:20.5+01:00","time":1,"request":{"method":"GET","url":"\(url)","headers":[
        {"name":":authority","value":"a.example"},{"name":"accept","value":"*/*"}]\(request)},
        "response":{"status":\(status),"statusText":"","headers":[{"name":"content-encoding","value":"br"},
        {"name":"set-cookie","value":"a=1\\nb=2"}],"content":{"size":5,"mimeType":"text/plain","text":"hello"}\(response)},
        "cache":{},"timings":{"blocked":1,"dns":-1,"connect":5,"ssl":2,"send":0,"wait":3.5,"receive":0.25}}
        """
    }

    static func file(_ entries: [String]) -> [UInt8] {
        Array(
            """
            {"log":{"version":"1.2","creator":{"name":"entries [","version":"{"},"pages":[{"entries":[1]}],
            "entries":[\(entries.joined(separator: ","))],"x":[{}]}}
            """.utf8)
    }

    @Test("Browsers' deviations are handled: pseudo-fields, bodies already decoded, several lines in one value")
    func knowsBrowsers() throws {
        let fixture = SnapshotFixture()
        let cookies = #","cookies":[{"name":"sid","value":"larderSecret0123456789abcdef0123456789abcdef"}]"#
        #expect(try Self.importing(Self.file([Self.entry(cookies)]), to: fixture) == .all(1))
        let recording = try Snapshot(path: fixture.path).recording(at: 0)
        #expect(recording.request.uri.text == "https://a.example:443/x?y")
        #expect(recording.request.fields.lines.map { recording.request.fields.text(of: $0.name) } == ["accept", "Cookie"])
        let response = try #require(recording.response)
        #expect(!response.fields.contains(.contentEncoding))
        #expect(response.fields.lineCount(of: .setCookie) == 2)
        #expect(recording.times.started == Timestamp(milliseconds: 1_795_415_000_500))
        #expect(recording.times[.connect] == 3000)
        #expect(recording.times[.tls] == 2000)
        #expect(recording.times[.wait] == 3500)
        #expect(recording.times[.dns] == nil)
    }

    @Test("Entries left out are reported by index")
    func reportsLeftOut() throws {
        let missing = Self.entry().replacing("\"text\":\"hello\"", with: "\"comment\":\"\"")
        let entries = [
            Self.entry(status: 0), Self.entry(), missing, Self.entry(url: "data:text/plain,x"), Self.entry(status: 304), "{}",
            Self.entry().replacing("\"cache\":", with: "\"_webSocketMessages\":[],\"cache\":"),
        ]
        let report = try Self.importing(Self.file(entries), to: SnapshotFixture())
        #expect(report.recorded == 1)
        #expect(report.leftOut.map(\.index) == [0, 2, 3, 4, 5, 6])
    }

    /// A text, the type of its response, the length in the file, and the original bytes.
    private static let texts: [(text: String, type: String, size: Int, octets: [UInt8])] = [
        ("grüßt", "text/plain; charset=ISO-8859-1", 5, [0x67, 0x72, 0xFC, 0xDF, 0x74]),
        // As named by a browser, which reads it as Windows-1252.
        ("„a“ 1€", #"text/html;charset=\"latin1\""#, 6, [0x84, 0x61, 0x93, 0x20, 0x31, 0x80]),
        ("ёж", "text/plain;charset=koi8-r", 2, [0xA3, 0xD6]),
        ("日本", "text/plain; charset=Shift_JIS", 4, [0x93, 0xFA, 0x96, 0x7B]),
        ("ab", "text/plain; charset=utf-16le", 4, [0x61, 0, 0x62, 0]),
        ("grüßt", "text/plain; charset=utf-8", 7, Array("grüßt".utf8)),
        ("grüßt", "application/json", 7, Array("grüßt".utf8)),
        ("grüßt", "text/plain", -1, Array("grüßt".utf8)),
        // Bytes that mitmproxy takes for text and decodes as Latin-1.
        ("\u{89}\u{FF}grün", "application/x-mostly-text", 6, [0x89, 0xFF, 0x67, 0x72, 0xFC, 0x6E]),
        // The server named the wrong charset; the tool that wrote the file used the right one.
        ("grüßt", "text/plain; charset=ISO-8859-1", 7, Array("grüßt".utf8)),
    ]

    @Test(
        "Text is encoded in the charset of its type; if the length disagrees, the length decides",
        arguments: 0..<10)
    func writesCharsets(index: Int) throws {
        let (text, type, size, octets) = Self.texts[index]
        let fixture = SnapshotFixture()
        let entry = Self.entry().replacing(#""text":"hello""#, with: #""text":"\#(text)""#)
            .replacing(#""size":5"#, with: #""size":\#(size)"#).replacing(
                #""mimeType":"text/plain""#, with: #""mimeType":"\#(type)""#)
        #expect(try Self.importing(Self.file([entry]), to: fixture) == .all(1))
        let snapshot = try Snapshot(path: fixture.path)
        let body = try #require(try snapshot.recording(at: 0).response?.body)
        #expect(try snapshot.octets(of: body) == octets)
    }

    @Test(
        "The text of a request is encoded likewise; if nothing identifies the charset it becomes UTF-8, and the entry is reported"
    )
    func tellsChangedTexts() throws {
        let fixture = SnapshotFixture()
        func entry(_ type: String, _ text: String) -> String {
            Self.entry(
                #","bodySize":4,"postData":{"mimeType":"text/plain;charset=latin1","text":"grün"}"#,
                url: "https://a.example/\(text.utf8.count)"
            )
            .replacing(#""text":"hello""#, with: #""text":"\#(text)""#)
            .replacing(#""mimeType":"text/plain","#, with: #""mimeType":"\#(type)","#)
        }
        let report = try Self.importing(
            Self.file([
                entry("text/plain", "a"), entry("text/plain;charset=x-nobodys", "grün"),
                entry("text/plain;charset=us-ascii", "€"),
            ]),
            to: fixture)
        #expect(report.recorded == 3 && report.leftOut.isEmpty)
        #expect(report.changed.map(\.index) == [1, 2])
        #expect(report.changed.first?.reason == "the charset x-nobodys is not supported, so the text is stored as UTF-8")
        let snapshot = try Snapshot(path: fixture.path)
        for place in 0..<3 {
            let body = try #require(try snapshot.recording(at: place).request.body)
            #expect(try snapshot.octets(of: body) == [0x67, 0x72, 0xFC, 0x6E])
        }
    }

    @Test(
        "A hostile HAR file is refused (T46)",
        arguments: [
            "", "[]", "{\"log\":{}}", "{\"log\":{\"entries\":[{", "}", "{\"log\":{\"entries\":[]",
            String(repeating: "[", count: 100_000),
        ])
    func refusesHostile(text: String) {
        #expect(throws: SnapshotError.self) { try Self.importing(Array(text.utf8), to: SnapshotFixture()) }
    }

    @Test("An entry that is nested too deeply is left out, and the others are imported")
    func leavesOutDeep() throws {
        let deep = "{\"a\":" + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "}"
        #expect(try Self.importing(Self.file([deep, Self.entry()]), to: SnapshotFixture()).recorded == 1)
    }
}

extension HARImportReport {
    static func all(_ count: Int) -> HARImportReport {
        var report = HARImportReport()
        report.recorded = count
        return report
    }
}
