import ServerTrust
import TextCoding

extension CertificateFacts {
    var json: JSONText {
        .object([
            ("subject", .string(subject)), ("issuer", .string(issuer)), ("names", .array(names.map(JSONText.string))),
            ("not_before", Self.json(notBefore)), ("not_after", Self.json(notAfter)), ("serial", .string(serialNumber)),
            ("key", .string("\(publicKeyDigest)")), ("digest", .string("\(digest)")),
        ])
    }

    private static func json(_ time: POSIXTime?) -> JSONText {
        time.map { .string($0.rfc3339) } ?? .null
    }
}
