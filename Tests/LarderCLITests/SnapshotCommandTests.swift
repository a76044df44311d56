import Foundation
import TestSupport
import Testing

@Suite("larder snapshot, har and lock")
struct SnapshotCommandTests {
    /// A HAR file with one response.
    static func har(_ body: String) -> String {
        """
        {"log":{"version":"1.2","creator":{"name":"test","version":"1"},"entries":[{"startedDateTime":"2026-11-23T06:23:20.000Z","time":1,
        "request":{"method":"GET","url":"https://a.example/x","httpVersion":"HTTP/1.1","headers":[
        {"name":"Authorization","value":"Bearer not-a-real-token-1"}],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[{"name":"Content-Type","value":"text/plain"}],
        "cookies":[],"redirectURL":"","headersSize":-1,"bodySize":4,"content":{"size":4,"mimeType":"text/plain","text":"\(body)"}},
        "cache":{},"timings":{"send":0,"wait":1,"receive":0}}]}}
        """
    }

    @Test(
        "A HAR file becomes a snapshot without secrets, which is listed, signed, verified, compared, exported, read again and locked"
    )
    func tellsTheStory() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        try Self.har("one").write(toFile: path + "/one.har", atomically: true, encoding: .utf8)
        try Self.har("two").write(toFile: path + "/two.har", atomically: true, encoding: .utf8)
        func larder(_ words: String, _ code: Int32 = 0) throws -> String {
            let arguments = words.split(separator: " ").map { String($0).replacing("@", with: path + "/") }
            let outcome = try CommandLineTests.larder(arguments)
            #expect(outcome.code == code, "\(words): \(outcome.output)\(outcome.talk)")
            return outcome.output
        }
        #expect(try larder("har import @one.har -o @one.larder --key @key") == "recorded 1, left out 0\n")
        #expect(try larder("har import @two.har -o @two.larder --key @key") == "recorded 1, left out 0\n")
        let octets = try Data(contentsOf: URL(filePath: path + "/one.larder"))
        #expect(octets.range(of: Data("not-a-real-token".utf8)) == nil)
        #expect(try larder("snapshot ls @one.larder") == "1.0 200 3 GET https://a.example:443/x\n")
        #expect(try larder("snapshot show @one.larder").contains("signed by   none"))
        #expect(try larder("snapshot verify @one.larder") == "good: 1 recordings; 1 bodies, 3 bytes in total; not signed\n")
        #expect(try larder("snapshot diff @one.larder @two.larder", 6) == "~ GET https://a.example:443/x  (body)\n")
        #expect(try larder("snapshot diff @one.larder @one.larder").isEmpty)

        let pem =
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAInrPka5zi7MnCNjkK6l7ybFqVzojOL/UaWAiX2DNEO\n-----END PRIVATE KEY-----\n"
        try pem.write(toFile: path + "/signing.pem", atomically: true, encoding: .utf8)
        _ = try larder("snapshot verify @one.larder --signed-by @signing.pem", 5)
        _ = try larder("snapshot sign @one.larder --sign-with @signing.pem")
        #expect(try larder("snapshot verify @one.larder --signed-by @signing.pem").hasSuffix("signed with 1 key\n"))

        #expect(try larder("snapshot export @one.larder --text @text") == "exported 1\n")
        _ = try larder("snapshot create --from-text @text -o @again.larder")
        func roots(_ name: String) throws -> [Substring] {
            try larder("snapshot show @\(name)").split(separator: "\n").prefix(2) + []
        }
        #expect(try roots("again.larder") == roots("one.larder"))

        let lock = try larder("lock write @one.larder")
        try lock.write(toFile: path + "/lock", atomically: true, encoding: .utf8)
        #expect(try larder("lock verify @lock @again.larder").isEmpty)
        #expect(try larder("lock verify @lock @two.larder", 5).hasPrefix("- GET https://a.example:443/x 200 sha256:"))

        _ = try larder("snapshot merge @one.larder @two.larder -o @both.larder")
        #expect(try larder("snapshot gc @both.larder") == "removed 1\n")
        #expect(try larder("snapshot diff @both.larder @two.larder").isEmpty)
        #expect(try larder("har export @both.larder").contains("\"text\":\"dHdv\""))
        _ = try larder("snapshot show @lock", 5)
    }

    @Test("A recording is rematched with new rules and its bodies are edited; errors are reported with their place")
    func rematchesAndEdits() throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        try Self.har("one").write(toFile: path + "/one.har", atomically: true, encoding: .utf8)
        func larder(_ words: String, _ code: Int32 = 0) throws -> (output: String, talk: String) {
            let arguments = words.split(separator: " ").map { String($0).replacing("@", with: path + "/") }
            let outcome = try CommandLineTests.larder(arguments)
            #expect(outcome.code == code, "\(words): \(outcome.output)\(outcome.talk)")
            return (outcome.output, outcome.talk)
        }
        func write(_ text: String, _ name: String) throws {
            try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
        }
        _ = try larder("har import @one.har -o @one.larder --key @key")
        let rules = #"{"canonicalisers":[{"uri":"https://a.example/*","query":{"ignore":["_"]}}]}"#
        try write(rules, "match.json")
        #expect(
            try larder("snapshot rematch @one.larder --match @match.json").output.hasPrefix(
                "applied the match rules to 1 recording; 0 keys changed\n"))
        #expect(try larder("snapshot verify @one.larder").output.hasPrefix("good: 1"))
        try write("{\n  nope}", "bad.json")
        #expect(
            try larder("snapshot rematch @one.larder --match @bad.json", 1).talk
                == "larder: \(path)/bad.json:2:3: JSON does not allow this byte here\n")
        try write(#"{"canonicaliser":[]}"#, "bad.json")
        #expect(
            try larder("snapshot rematch @one.larder --match @bad.json", 1).talk.contains(
                "\(path)/bad.json: malformed: match has the unknown member"))
        #expect(try larder("snapshot rematch @one.larder --match @none.json", 1).talk.contains("cannot read"))
        _ = try larder("snapshot rematch @none.larder --match @match.json", 1)
        _ = try larder("snapshot rematch @match.json --match @match.json", 5)
        _ = try larder("snapshot rematch @one.larder", 2)

        _ = try larder("snapshot export @one.larder --text @text")
        #expect(try larder("snapshot edit @one.larder --changed @text").output == "changed 0 bodies\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: path + "/text/bodies")
        let name = try #require(names.first)
        try write("changed", "text/bodies/" + name)
        #expect(
            try larder("snapshot edit @one.larder --changed @text/bodies/\(name)").output.hasPrefix(
                "changed 1 body in 1 recording\n"))
        #expect(try larder("har export @one.larder").output.contains("Y2hhbmdlZA=="))
        let again = try larder("snapshot edit @one.larder --changed @text", 1).talk
        #expect(
            again.contains("no recording has the body \(name.prefix(64)). The body was exported from another snapshot or"),
            "\(again)")
        #expect(again.hasSuffix("; export the snapshot again.\n") && !again.contains("malformed"), "\(again)")
        #expect(
            try larder("snapshot edit @one.larder --changed @nofolder", 1).talk.hasSuffix(
                "nofolder: the file or folder does not exist\n"))
        #expect(
            try larder("snapshot edit @one.larder --changed @match.json", 1).talk.contains(
                "match.json: an exported body must keep its file name"))
        #expect(
            try larder("snapshot edit @one.larder --changed @text/recordings", 1).talk.contains("contains no folder `bodies`"))
        _ = try larder("snapshot edit @one.larder", 2)
    }
}
