import Foundation
import ServerTrust
import Testing

@Suite("Pins (RFC 7469 §2)")
struct PinTests {
    private static let file = VectorFile.shared
    private static let digest = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="

    @Test(
        "A digest is read in each of the three forms in use",
        arguments: ["pin-sha256=\"\(digest)\"", "sha256/\(digest)", "sha256//\(digest)"])
    func readsDigests(text: String) throws {
        let pin = try Pin(text)
        #expect(pin.publicKeyDigest.base64 == Self.digest)
        #expect(pin.description == "sha256/\(Self.digest)")
        #expect(pin.certificate == nil)
    }

    @Test("A digest whose base64 begins with a slash is read in both forms with slashes")
    func readsSlash() throws {
        let digest = "/" + Self.digest.dropFirst()
        #expect(try Pin("sha256/\(digest)").publicKeyDigest.base64 == digest)
        #expect(try Pin("sha256//\(digest)").publicKeyDigest.base64 == digest)
    }

    @Test(
        "Malformed pins are refused with their reason",
        arguments: [
            ("", .unknownForm), (digest, .unknownForm), ("sha1/\(digest)", .unknownForm), ("SHA256/\(digest)", .unknownForm),
            ("pin-sha256=\(digest)", .unknownForm), ("pin-sha256=\"", .unknownForm), ("sha256/", .malformedDigest),
            ("sha256/AAAA", .malformedDigest), ("sha256/\(digest.dropLast())", .malformedDigest),
            ("sha256/\(digest)AAAA", .malformedDigest), ("sha256/\(digest) ", .malformedDigest),
            ("sha256/\(digest.replacing("+", with: "-"))", .malformedDigest),
            // The last letter before the padding has bits set that belong to no byte of the digest.
            ("sha256/\(digest.replacing("CQ=", with: "CR="))", .malformedDigest), ("sha256///\(digest)", .malformedDigest),
        ] as [(String, Pin.Fault)])
    func refusesOthers(text: String, fault: Pin.Fault) {
        #expect(throws: fault) { try Pin(text) }
    }

    @Test("The digest of a certificate's key is the one that another library computes", arguments: file.keyDigests.keys.sorted())
    func digestsKeys(label: String) throws {
        let certificate = try Self.file.certificate(label)
        #expect(certificate.publicKeyDigest.base64 == Self.file.keyDigests[label])
        #expect(try Pin.reading(file: Self.file.der(label)).map(\.publicKeyDigest) == [certificate.publicKeyDigest])
    }

    @Test("Every certificate in a PEM file is pinned, whatever text is between them")
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

    @Test("A file with only a public key is pinned, in PEM and in DER")
    func readsPublicKeys() throws {
        // The key is the base point of the curve P-256; Python computed the digest.
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
        "A file that cannot be read or has nothing to pin is an error, never an empty set of pins",
        arguments: [
            ("", .unreadable), ("certificate", .unreadable),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .unreadable),
            ("-----BEGIN CERTIFICATE-----\nAAAA", .unreadable), ("-----BEGIN CERTIFICATE-----\n\n-----END X-----", .unreadable),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", .nothingToPin),
        ] as [(String, Pin.Fault)])
    func refusesFiles(text: String, fault: Pin.Fault) {
        #expect(throws: fault) { try Pin.reading(file: Array(text.utf8)) }
    }

    @Test("One unreadable certificate makes the whole file unreadable")
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
