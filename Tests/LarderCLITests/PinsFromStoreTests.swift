import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite("larder pins learn --from-store")
struct PinsFromStoreTests {
    private static let other = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    @Test(
        "learn --from-store proposes pins for the servers of stored responses, with and without a running Larder, and contacts no server"
    )
    func learns() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity()
        let origin = ScriptedOrigin(identity: identity) { connection in
            while connection.readHead() != nil { connection.respond(fields: "Cache-Control: max-age=600\r\n", body: "secret") }
        }
        defer { origin.stop() }
        _ = try stage.folder.write("keep.example: {pins: {of: \(Self.other)}}\n", to: "pins.d/keep.yaml")
        let larder = try ServeTests.Served(
            "tls: {default: {anchors: {bundle: root.pem}}, pins_from: pins.d}\n", in: stage.folder, store: "store.sqlite")
        let port = UInt16(try #require(try larder.ports().first))
        let client = try RawClient(port: port, owner: larder)
        client.send("GET https://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse(to: "GET").text == "secret")

        func learn(_ arguments: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(
                ["pins", "learn", "--from-store"] + arguments
                    + [
                        "-c", larder.settings, "--set", "admin.socket=\(stage.folder.path)/admin.sock", "--set",
                        "store.path=\(stage.folder.path)/store.sqlite",
                    ])
        }
        let host = "127.0.0.1:\(origin.port)"
        let pin = try PinnedStage.pin(identity)
        origin.stop()
        var running = try learn()
        // The response is listed after the store's writer has committed it.
        try eventually {
            if running.output.isEmpty { running = try learn() }
            return !running.output.isEmpty
        }
        #expect(running.code == 0, "\(running)")
        #expect(running.output.contains("\(host):\n") && running.output.contains("of: [\"\(pin)\"]"), "\(running)")
        #expect(origin.connectionCount == 1)

        let unknown = try learn(host, "127.0.0.1:1")
        #expect(unknown.code == 1 && unknown.output.contains("of: [\"\(pin)\"]"))
        #expect(unknown.talk.contains("127.0.0.1:1: the store contains no certificates of this server"), "\(unknown)")

        larder.signal(SIGTERM)
        #expect(larder.hasEnded())
        let alone = try learn("--write")
        #expect(alone.code == 0, "\(alone)")
        #expect(try stage.read("pins.d/127.0.0.1_\(origin.port).yaml").contains("\(pin)"))
        // It has a policy now.
        let again = try learn()
        #expect(again.code == 0 && again.output.isEmpty, "\(again)")
    }

    @Test("Without --from-store a host must be named, and --from-store cannot be combined with --pins-only")
    func refuses() throws {
        #expect(try CommandLineTests.larder("pins", "learn").code == 2)
        #expect(try CommandLineTests.larder("pins", "learn", "--from-store", "--pins-only", "--write").code == 2)
    }
}
