/// A TLS alert (RFC 8446 §6), by its number.
package struct TLSAlert: Equatable, Sendable {
    package let description: UInt8

    package init(_ description: UInt8) { self.description = description }

    package static let accessDenied = TLSAlert(49)
    package static let noApplicationProtocol = TLSAlert(120)
    package static let decodeError = TLSAlert(50)
    package static let unrecognizedName = TLSAlert(112)

    /// Whether the alert says that a certificate was rejected.
    package var isOfCertificate: Bool { (42...46).contains(description) || description == 48 || description == 49 }

    /// The record of a fatal alert that is sent before there are keys (RFC 8446 §5.1, §6).
    package var record: [UInt8] { [21, 3, 3, 0, 2, 2, description] }

    /// The name in IANA's registry, for alerts that can end a handshake.
    package var reason: StaticString {
        switch description {
        case 0: "close_notify"
        case 10: "unexpected_message"
        case 20: "bad_record_mac"
        case 22: "record_overflow"
        case 40: "handshake_failure"
        case 42: "bad_certificate"
        case 43: "unsupported_certificate"
        case 44: "certificate_revoked"
        case 45: "certificate_expired"
        case 46: "certificate_unknown"
        case 47: "illegal_parameter"
        case 48: "unknown_ca"
        case 49: "access_denied"
        case 50: "decode_error"
        case 51: "decrypt_error"
        case 70: "protocol_version"
        case 71: "insufficient_security"
        case 80: "internal_error"
        case 86: "inappropriate_fallback"
        case 90: "user_canceled"
        case 109: "missing_extension"
        case 110: "unsupported_extension"
        case 112: "unrecognized_name"
        case 113: "bad_certificate_status_response"
        case 115: "unknown_psk_identity"
        case 116: "certificate_required"
        case 120: "no_application_protocol"
        default: "unknown_alert"
        }
    }
}
