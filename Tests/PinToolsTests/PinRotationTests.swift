import ServerTrust
import Testing

@testable import PinTools

@Suite("The stages of pins: backup, live, retired")
struct PinRotationTests {
    private let a = key(1)
    private let b = key(2)
    private let c = key(3)
    private let d = key(4)

    private static func key(_ octet: UInt8) -> SHA256Digest {
        SHA256Digest(Array(repeating: octet, count: SHA256Digest.count))!  // this many bytes are a digest
    }

    private func rotation(_ live: [SHA256Digest], _ backup: [SHA256Digest]) -> PinRotation {
        PinRotation(live: live.map { PinRotation.Item($0) }, backup: backup.map { PinRotation.Item($0) })
    }

    @Test("A new key becomes a backup; one that is already pinned is refused")
    func adds() throws {
        var pins = rotation([a], [])
        try pins.add([b])
        #expect(pins == rotation([a], [b]) && pins.fault(shown: []) == nil)
        #expect(throws: PinRotation.Refusal(reason: "\(a) is already pinned")) { try pins.add([a]) }
    }

    @Test("After the old key is retired, the key that the server sends is in use, else the first backup")
    func retires() throws {
        var shown = rotation([a], [b, c])
        try shown.retire([a], shown: [c])
        #expect(shown == rotation([c], [b]) && shown.fault(shown: [c]) == nil)
        var unseen = rotation([a], [b, c])
        try unseen.retire([a], shown: [])
        #expect(unseen == rotation([b], [c]))
        #expect(throws: PinRotation.Refusal.self) { try unseen.retire([d], shown: []) }
        #expect(throws: PinRotation.Refusal.self) { try unseen.retire([b, c], shown: []) }
    }

    @Test("A result without a backup, or without a key that the server sends, is a fault")
    func faults() {
        #expect(rotation([a], []).fault(shown: [])?.contains("no backup would be left") == true)
        #expect(rotation([a], [b]).fault(shown: [a, b])?.contains("no backup would be left") == true)
        #expect(rotation([a], [b]).fault(shown: [c])?.contains("the server still uses \(c)") == true)
    }

    @Test("If one key of a file with several is retired, the digests of the others replace the file")
    func splitsFiles() throws {
        var pins = PinRotation(live: [PinRotation.Item(text: "keys.pem", keys: [a, b])], backup: [PinRotation.Item(c)])
        try pins.retire([a], shown: [b])
        #expect(pins == rotation([b], [c]))
    }

    @Test("Everything in a file except the pins stays unchanged, and a file with comments between its lines is not written")
    func rewritesFiles() throws {
        let text = """
            # the shop's
            a.example: {pins: {comment: "one # two", of: keys/a.pem, expires: 2027-12-31}, mode: report_only}
            "*.b.example":
              labels: one
              pins: {of: "\(a)"}

            """
        #expect(PinsFile(text) == nil)
        #expect(PinsFile("# the shop's\r\na.example:\r\n  # until May\r\n  pins: {of: \(a)}\r\n") == nil)
        var file = try #require(PinsFile(text.replacing("one # two", with: "one")))
        file.replacePins(of: "a.example", by: rotation([b], [c]).words)
        #expect(
            file.text == """
                # the shop's
                a.example:
                  pins:
                    of: ["\(b)"]
                    backup: ["\(c)"]
                    comment: one
                    expires: 2027-12-31
                  mode: report_only
                "*.b.example":
                  labels: one
                  pins:
                    of: "\(a)"

                """)
    }
}
