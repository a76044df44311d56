import Foundation
import ServerTrust
import Testing

@Suite("Pins (RFC 7469 §2)")
struct PinTests {
    private static let file = VectorFile.shared
    private static let digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    @Test(
        "A digest is read in each form that is in use",
        arguments: ["pin-sha256=\"\(digest)\"", "sha256/\(digest)", "sha256//\(digest)"])
    func readsDigests(text: String) throws {
        let pin = try Pin(text)
        #expect(pin.publicKeyDigest.base64 == Self.digest)
        #expect(pin.description == "sha256/\(Self.digest)")
        #expect(pin.certificate == nil)
    }

    @Test("A digest that begins with a slash is itself in both forms")
    func readsSlash() throws {
        let digest = "/" + Self.digest.dropFirst()
        #expect(try Pin("sha256/\(digest)").publicKeyDigest.base64 == digest)
        #expect(try Pin("sha256//\(digest)").publicKeyDigest.base64 == digest)
    }

    @Test(
        "What is no digest is refused with its reason",
        arguments: [
            ("", .unknownForm), (digest, .unknownForm), ("sha1/\(digest)", .unknownForm), ("SHA256/\(digest)", .unknownForm),
            ("pin-sha256=\(digest)", .unknownForm), ("pin-sha256=\"", .unknownForm), ("sha256/", .malformedDigest),
            ("sha256/AAAA", .malformedDigest), ("sha256/\(digest.dropLast())", .malformedDigest),
            ("sha256/\(digest)AAAA", .malformedDigest), ("sha256/\(digest) ", .malformedDigest),
            ("sha256/\(digest.replacing("+", with: "-"))", .malformedDigest),
            // The last letter has bits that are no digest's.
            ("sha256/\(digest.replacing("CQ=", with: "CR="))", .malformedDigest), ("sha256///\(digest)", .malformedDigest),
        ] as [(String, Pin.Fault)])
    func refusesOthers(text: String, fault: Pin.Fault) {
        #expect(throws: fault) { try Pin(text) }
    }

    @Test("A certificate's key has the digest that another library computes of it", arguments: file.keyDigests.keys.sorted())
    func digestsKeys(label: String) throws {
        let certificate = try Self.file.certificate(label)
        #expect(certificate.publicKeyDigest.base64 == Self.file.keyDigests[label])
        #expect(try Pin.reading(file: Self.file.der(label)).map(\.publicKeyDigest) == [certificate.publicKeyDigest])
    }

    @Test("A file in PEM pins every certificate and key in it, whatever stands between them")
    func readsPEM() throws {
        let text = """
            # the live one
            \(Self.pem("CERTIFICATE", Self.file.der("leaf")))
            # the spare one
            \(Self.pem("CERTIFICATE", Self.file.der("middle")).replacing("\n", with: " \r\n"))
            """
        let pins = try Pin.reading(file: Array(text.utf8))
        #expect(try pins.map(\.certificate) == [Self.file.certificate("leaf"), Self.file.certificate("middle")])
    }

    @Test("A public key is pinned by itself, in PEM and in DER")
    func readsPublicKeys() throws {
        // The point that the curve P-256 begins with, and the digest that Python computes of it.
        let key = try #require(
            Data(
                base64Encoded:
                    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q=="
            ))
        let inDER = try Pin.reading(file: Array(key))
        let inPEM = try Pin.reading(file: Array(Self.pem("PUBLIC KEY", Array(key)).utf8))
        #expect(inDER == inPEM)
        #expect(inDER.map(\.description) == ["sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM="])
    }

    @Test(
        "A file that cannot be read, or has nothing to pin, is a fault and never an empty set",
        arguments: [
            ("", .unreadable), ("certificate", .unreadable),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .unreadable),
            ("-----BEGIN CERTIFICATE-----\nAAAA", .unreadable), ("-----BEGIN CERTIFICATE-----\n\n-----END X-----", .unreadable),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .nothingToPin),
        ] as [(String, Pin.Fault)])
    func refusesFiles(text: String, fault: Pin.Fault) {
        #expect(throws: fault) { try Pin.reading(file: Array(text.utf8)) }
    }

    @Test("One unreadable certificate spoils the whole file")
    func skipsNothing() {
        let text =
            Self.pem("CERTIFICATE", Self.file.der("leaf")) + "\n" + Self.pem("CERTIFICATE", Self.file.der("leaf").dropLast())
        #expect(throws: Pin.Fault.unreadable) { try Pin.reading(file: Array(text.utf8)) }
    }

    static func pem(_ label: String, _ der: some Sequence<UInt8>) -> String {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(base64)\n-----END \(label)-----"
    }
}
