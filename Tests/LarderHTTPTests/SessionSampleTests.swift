import Foundation
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@Suite("The sample of docs/library.md: a program that uses a session", .serialized)
struct SessionSampleTests {
    static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "newest")
    static let root = (0..<3).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }

    /// Runs the program; returns its exit status and its output.
    private static func run(
        _ arguments: [String], in folder: TemporaryFolder
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        // Into files, which need no reader.
        folder.write([], to: "output")
        folder.write([], to: "errors")
        process.standardOutput = FileHandle(forWritingAtPath: folder.path("output"))
        process.standardError = FileHandle(forWritingAtPath: folder.path("errors"))
        try process.run()
        process.waitUntilExit()
        let texts = ["output", "errors"].map { String(decoding: folder.read($0) ?? [], as: UTF8.self) }
        return (process.terminationStatus, texts[0], texts[1])
    }

    @Test(
        "The sample checks the pin, retries, downloads with progress, reuses the stored response, and reports a wrong pin"
    )
    func runs() throws {
        let authority = TestAuthority()
        let identity = authority.identity()
        let content = PatternBytes.make(300_000, seed: 9)
        let busy = SentCount()
        let origin = ScriptedOrigin(identity: identity) { connection in
            while let head = connection.readHead() {
                busy.add(1)
                switch OriginRequest(head: head).target {
                case _ where busy.value == 1: connection.respond("503 Busy")
                case "/v1/newest":
                    connection.respond(
                        fields: "Content-Type: application/json\r\nCache-Control: max-age=600\r\n",
                        body: "{\"name\": \"one\", \"file\": \"files/one.bin\"}")
                default:
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n")
                    connection.send(bytes: content)
                }
            }
        }
        defer { origin.stop() }
        let (own, target) = (try TemporaryFolder(), try TemporaryFolder())
        let root = "-----BEGIN CERTIFICATE-----\n\(Base64.encode(authority.der))\n-----END CERTIFICATE-----\n"
        own.write(Array(root.utf8), to: "root.pem")
        let pin = try #require(Certificate(der: identity.der)).publicKeyDigest.description
        func arguments(_ pin: String, _ folder: TemporaryFolder) -> [String] {
            ["https://127.0.0.1:\(origin.port)/v1", pin, own.path("root.pem"), folder.path("")]
        }

        let first = try Self.run(arguments(pin, target), in: own)
        #expect(first.status == 0, "\(first.errors)")
        #expect(target.read("one.bin") == content)
        #expect(first.errors.split(separator: "\n").last == "100 %", "\(first.errors)")
        #expect(first.output.hasPrefix("one: 300000 bytes in "), "\(first.output)")
        let targets = { origin.requestHeads.map { OriginRequest(head: $0).target } }
        #expect(targets() == ["/v1/newest", "/v1/newest", "/v1/files/one.bin"])

        let second = try Self.run(arguments(pin, target), in: own)
        #expect(second.status == 0, "\(second.errors)")
        #expect(targets().dropFirst(3) == ["/v1/files/one.bin"], "the kept answer was not used")

        let wrong = try #require(Certificate(der: authority.identity().der)).publicKeyDigest.description
        let refused = try Self.run(arguments(wrong, try TemporaryFolder()), in: own)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("trust_rejected (pin_mismatch)"), "\(refused.errors)")
        #expect(targets().count == 4)

        let none = try Self.run([], in: own)
        #expect(none.status == 2 && none.errors.contains("newest BASE PIN ANCHORS.pem FOLDER"))
    }

    @Test("The page contains this program, which has fewer than 60 lines")
    func isShown() throws {
        let program = try String(contentsOf: Self.root.appending(path: "docs/samples/newest/main.swift"), encoding: .utf8)
        let page = try String(contentsOf: Self.root.appending(path: "docs/library.md"), encoding: .utf8)
        #expect(program.split(separator: "\n", omittingEmptySubsequences: false).count < 60)
        #expect(page.contains("```swift\n" + program + "```"))
    }
}
