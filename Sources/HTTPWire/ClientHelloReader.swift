import HTTPMessage

/// Puts a client's first bytes together until they are a whole ClientHello, or no TLS at all. It holds all of them: who waits for
/// its answer passes them on.
///
/// A ClientHello may come in several records (RFC 8446 §5.1); records that are empty, or hold more than it, are refused.
package struct ClientHelloReader: Sendable {
    package enum Step: Equatable, Sendable {
        case needsMore
        case hello(ClientHello)
        /// Something that nobody takes for TLS. What came is not bounded any more.
        case notTLS
    }

    /// Everything that came.
    package private(set) var octets: [UInt8] = []
    /// How much of it has been taken apart, in whole records.
    private var recordStart = 0
    /// The message, as far as it came.
    private var message: [UInt8] = []
    private let lengthLimit: Int

    package init(limits: ParseLimits) { lengthLimit = limits.clientHelloLength }

    /// Takes what came next. Once it has answered with anything but `needsMore`, or thrown, it is not asked again.
    package mutating func take(_ bytes: Span<UInt8>) throws(ClientHelloFault) -> Step {
        octets.append(bytes)
        while true {
            if !beginsAsRecord { return .notTLS }
            guard let end = try recordEnd() else { break }
            message += octets[recordStart + Self.headerLength..<end]
            recordStart = end
            if let hello = try readMessage() { return .hello(hello) }
        }
        return .needsMore
    }

    private static let headerLength = 5
    /// RFC 8446 §5.1.
    private static let recordLengthLimit = 1 << 14

    /// Whether a server could take what is there for the beginning of TLS: a record of any type and of a version below 16, as Go's reads
    /// them, or the ClientHello of SSL 2. Of these only a handshake's record of version 3 is not refused.
    private var beginsAsRecord: Bool {
        guard recordStart == 0, let first = octets.first else { return true }
        if Self.recordTypes.contains(first) { return octets.count < 2 || octets[1] < 16 }
        return first & 0x80 != 0 && (octets.count < 3 || octets[2] == 1) && (octets.count < 4 || octets[3] == 3)
    }

    private static let recordTypes: ClosedRange<UInt8> = 20...23

    private static let handshakeType: UInt8 = 22

    /// - Returns: `nil` where the record is not all there.
    private func recordEnd() throws(ClientHelloFault) -> Int? {
        // However little of it is there, so that it is refused the same wherever it is cut.
        if recordStart + Self.headerLength >= lengthLimit { throw .tooLong }
        guard octets.count - recordStart >= Self.headerLength else { return nil }
        let length = Int(octets[recordStart + 3]) << 8 | Int(octets[recordStart + 4])
        guard octets[recordStart] == Self.handshakeType, octets[recordStart + 1] == 3,
            (1...Self.recordLengthLimit).contains(length)
        else { throw .malformed }
        let end = recordStart + Self.headerLength + length
        if end > lengthLimit { throw .tooLong }
        return end <= octets.count ? end : nil
    }

    /// - Returns: `nil` where the message is not all there.
    private func readMessage() throws(ClientHelloFault) -> ClientHello? {
        guard message[0] == 1 else { throw .malformed }
        guard message.count >= 4 else { return nil }
        let end = 4 + (Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3]))
        if end > lengthLimit { throw .tooLong }
        if message.count < end { return nil }
        // Nothing stands behind it before the server has answered.
        guard message.count == end else { throw .malformed }
        return try ClientHello(message: message.span.extracting(4..<end))
    }
}
