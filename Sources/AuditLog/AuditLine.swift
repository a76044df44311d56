import HTTPMessage
import ServerTrust

/// One line of the audit log: its number, time and event first, and the hash of the line before it last.
///
///     {"seq":7,"time":"2026-11-29T03:22:23.006Z","event":"denied",…,"prev":"<64 hexadecimal digits>"}
///
/// A seal has the members `key`, `prev` and `signature`, in this order, so that the signature covers all other members.
enum AuditLine {
    /// The maximum length of a line, in bytes.
    static let lengthLimit = 64 << 10
    /// The maximum length of an event's part of a line, which leaves space for the number, the hash and a signature.
    static let bodyLimit = lengthLimit - 1024
    /// The `prev` of the first line of a log.
    // The array has the length of a digest.
    static let firstHash = SHA256Digest([UInt8](repeating: 0, count: SHA256Digest.count))!
    private static let hashLength = 2 * SHA256Digest.count

    /// - Parameter body: the members `time` and `event` and those of the event, with commas between them.
    static func line(_ number: UInt64, _ body: [UInt8], after hash: SHA256Digest) -> [UInt8] {
        head(number, body, after: hash) + Array("}".utf8)
    }

    /// The line of a seal without its signature and without the closing brace.
    static func head(_ number: UInt64, _ body: [UInt8], after hash: SHA256Digest) -> [UInt8] {
        var line = Array("{\"seq\":\(number),".utf8)
        line.reserveCapacity(body.count + 128)
        line += body
        line += Array(",\"prev\":\"".utf8)
        line += Array(Hexadecimal.encode(hash.octets).utf8)
        line.append(ASCII.quote)
        return line
    }

    /// The parts of a line that the chain needs.
    struct Parts {
        let number: UInt64
        let event: [UInt8]
        let previous: SHA256Digest
        /// The time of the line, such as `2026-11-29T03:22:23.006Z`.
        let time: [UInt8]
        let seal: Seal?
    }

    struct Seal {
        /// The signed bytes: the line up to its signature.
        let signedCount: Int
        let key: [UInt8]
        let signature: [UInt8]
    }

    /// Reads a line without its line break.
    /// - Returns: `nil` if the line does not have the form that this module writes.
    static func read(_ line: ArraySlice<UInt8>) -> Parts? {
        var rest = line
        guard skip("{\"seq\":", in: &rest) else { return nil }
        let digits = rest.prefix(while: ASCII.isDigit)
        guard digits.count < 20, let number = UInt64(String(decoding: digits, as: UTF8.self)), number > 0 else { return nil }
        rest = rest.dropFirst(digits.count)
        guard skip(",\"time\":\"", in: &rest) else { return nil }
        let time = Array(rest.prefix(24))
        rest = rest.dropFirst(24)
        guard skip("\",\"event\":\"", in: &rest) else { return nil }
        let event = Array(rest.prefix { $0 != ASCII.quote })
        var end = line
        guard drop("}", from: &end) else { return nil }
        guard event.elementsEqual("seal".utf8) else {
            guard let previous = dropHash(from: &end) else { return nil }
            return Parts(number: number, event: event, previous: previous, time: time, seal: nil)
        }
        guard drop("\"", from: &end) else { return nil }
        let signature = Array(end.suffix(88))
        end = end.dropLast(88)
        guard drop(",\"signature\":\"", from: &end) else { return nil }
        let signedCount = end.count
        guard let previous = dropHash(from: &end), drop("\"", from: &end) else { return nil }
        let key = Array(end.suffix(hashLength))
        return Parts(
            number: number, event: event, previous: previous, time: time,
            seal: Seal(signedCount: signedCount, key: key, signature: signature))
    }

    /// Removes `,"prev":"…"` from the end.
    private static func dropHash(from end: inout ArraySlice<UInt8>) -> SHA256Digest? {
        guard drop("\"", from: &end), end.count > hashLength else { return nil }
        let hash = Hexadecimal.decode(String(decoding: end.suffix(hashLength), as: UTF8.self))
        end = end.dropLast(hashLength)
        guard drop(",\"prev\":\"", from: &end), let hash else { return nil }
        return SHA256Digest(hash)
    }

    private static func skip(_ text: StaticString, in rest: inout ArraySlice<UInt8>) -> Bool {
        let isThere = text.withUTF8Buffer { rest.starts(with: $0) }
        if isThere { rest = rest.dropFirst(text.utf8CodeUnitCount) }
        return isThere
    }

    private static func drop(_ text: StaticString, from end: inout ArraySlice<UInt8>) -> Bool {
        let isThere = text.withUTF8Buffer { end.suffix($0.count).elementsEqual($0) }
        if isThere { end = end.dropLast(text.utf8CodeUnitCount) }
        return isThere
    }
}
