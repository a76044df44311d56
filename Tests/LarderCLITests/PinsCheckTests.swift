import Foundation
import FoundationXML
import ServerTrust
import TestSupport
import Testing

@Suite("larder pins check")
struct PinsCheckTests {
    private static let spare = "sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    private func check(_ arguments: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["pins", "check"] + arguments)
    }

    private func hosts(_ outcome: CommandLineTests.Outcome) throws -> [[String: Any]] {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        return try #require(object["hosts"] as? [[String: Any]])
    }

    @Test("Each pinned host has its state: good, reported, refused, unreachable, or a pattern")
    func tellsApart() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity(until: 86_400 * 30)
        let origins = (0..<3).map { _ in stage.serve(identity) }
        let gone = stage.serve(identity)
        stage.stop(gone)
        let (pin, anchors) = (try PinnedStage.pin(identity), "anchors: {bundle: root.pem}")
        let settings = try stage.settings(
            """
            tls:
              hosts:
                127.0.0.1:\(origins[0].port): {\(anchors), pins: {of: \(pin), backup: \(Self.spare)}}
                127.0.0.1:\(origins[1].port): {\(anchors), pins: {of: \(Self.spare)}, mode: report_only}
                127.0.0.1:\(origins[2].port): {\(anchors), pins: {of: \(Self.spare)}}
                127.0.0.1:\(gone.port): {\(anchors), pins: {of: \(Self.spare)}}
                "*.a.example": {\(anchors), pins: {of: \(Self.spare)}}
            """)
        let outcome = try check("-c", settings, "-o", "json")
        #expect(outcome.code == 7, "\(outcome)")
        let found = try hosts(outcome)
        #expect(found.map { $0["result"] as? String } == ["good", "reported", "refused", "unreachable", "pattern"])
        #expect(found[0]["matched"] as? String == "\(pin)")
        // The root's, which is valid for a day from its first second on.
        #expect([0, 1].contains(try #require(found[0]["days_to_expiry"] as? Int)))
        #expect((found[2]["sentence"] as? String) == "pin_mismatch: the server's key is \(pin); the pins are \(Self.spare)")
        #expect(found[3]["sentence"] as? String == "connection refused")
        #expect((found[0]["chain"] as? [[String: Any]])?.first?["key"] as? String == "\(pin)")
        // No server was contacted.
        #expect(origins.allSatisfy { $0.requestHeads.isEmpty })

        let unreachable = try check("-c", settings, "127.0.0.1:\(origins[0].port)", "127.0.0.1:\(gone.port)")
        #expect(unreachable.code == 1, "\(unreachable)")
        let junit = try check("-c", settings, "-o", "junit")
        #expect(junit.code == 7)
        #expect(junit.output.contains("tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"1\""))
        let document = try XMLDocument(xmlString: junit.output)
        #expect(
            try document.nodes(forXPath: "/testsuite/testcase/failure/@type").compactMap(\.stringValue) == [
                "reported", "refused",
            ])
    }

    @Test("Upcoming problems are warnings, and are faults in strict mode")
    func warns() throws {
        let stage = try PinnedStage()
        let identity = stage.authority.identity()
        let origin = stage.serve(identity)
        let host = "127.0.0.1:\(origin.port)"
        let settings = try stage.settings(
            "tls: {hosts: {\"\(host)\": {anchors: {bundle: root.pem}, pins: {of: \(try PinnedStage.pin(identity))}}}}")
        let outcome = try check("-c", settings, "-o", "json")
        #expect(outcome.code == 0)
        let codes = try hosts(outcome).first?["warnings"] as? [[String: String]]
        #expect(codes?.map { $0["code"] } == ["no_backup", "chain_expires"])
        #expect(try check("-c", settings, "--strict").code == 7)
        let text = try check("-c", settings, "--days", "0")
        #expect(text.code == 0)
        #expect(
            text.output.contains(
                "warning      no pin is a backup: when the server's key changes, all connections fail (RFC 7469 §4.3)\n"))
        #expect(!text.output.contains("the chain expires soon"))
    }

    @Test("A slow server costs its time limit, and an invalid host is a usage error")
    func isBounded() throws {
        let hole = BlackHole()
        let stage = try PinnedStage()
        let settings = try stage.settings("tls: {default: {anchors: {bundle: root.pem}}}\n")
        let outcome = try check("127.0.0.1:\(hole.port)", "-c", settings, "--set", "timeouts.connect=200ms", "-o", "json")
        #expect(outcome.code == 1, "\(outcome)")
        #expect(try hosts(outcome).first?["result"] as? String == "unreachable")
        #expect(try check("*.a.example").code == 2)
        #expect(try check("127.0.0.1:99999").code == 2)
    }
}
