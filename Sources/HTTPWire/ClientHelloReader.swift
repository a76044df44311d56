import HTTPMessage

/// Collects a client's first bytes until they are a complete ClientHello, or until it is clear that they are not TLS. The reader keeps
/// all bytes, so that the caller can forward them when it has decided.
///
/// A ClientHello may span several records (RFC 8446 §5.1). Empty records, and records with data after the ClientHello, are rejected.
package struct ClientHelloReader: Sendable {
    package enum Step: Equatable, Sendable {
        case needsMore
        case hello(ClientHello)
        /// No server would read the bytes as TLS. The reader's limits do not apply to bytes that follow.
        case notTLS
    }

    /// All bytes received.
    package private(set) var octets: [UInt8] = []
    /// The end of the last complete record that was read.
    private var recordStart = 0
    /// The part of the ClientHello message received so far.
    private var message: [UInt8] = []
    private let lengthLimit: Int

    package init(limits: ParseLimits) { lengthLimit = limits.clientHelloLength }

    /// Takes the next bytes. Do not call this function again after it throws or returns a value other than `needsMore`.
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
    /// The maximum length of a record's content (RFC 8446 §5.1).
    private static let recordLengthLimit = 1 << 14

    /// Whether a server could read these bytes as the start of TLS: a record of any type with a version below 16 (as Go reads them), or the
    /// ClientHello of SSL 2. All of these starts except a handshake record of version 3 are rejected later.
    private var beginsAsRecord: Bool {
        guard recordStart == 0, let first = octets.first else { return true }
        if Self.recordTypes.contains(first) { return octets.count < 2 || octets[1] < 16 }
        return first & 0x80 != 0 && (octets.count < 3 || octets[2] == 1) && (octets.count < 4 || octets[3] == 3)
    }

    private static let recordTypes: ClosedRange<UInt8> = 20...23

    private static let handshakeType: UInt8 = 22

    /// - Returns: the end of the next record; `nil` if the record is incomplete.
    private func recordEnd() throws(ClientHelloFault) -> Int? {
        // The limit is checked before the record's header is complete, so that the result does not depend on how the bytes were split
        // into reads.
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

    /// - Returns: `nil` if the message is incomplete.
    private func readMessage() throws(ClientHelloFault) -> ClientHello? {
        guard message[0] == 1 else { throw .malformed }
        guard message.count >= 4 else { return nil }
        let end = 4 + (Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3]))
        if end > lengthLimit { throw .tooLong }
        if message.count < end { return nil }
        // A client sends nothing after the ClientHello until the server has responded, so further bytes are an error.
        guard message.count == end else { throw .malformed }
        return try ClientHello(message: message.span.extracting(4..<end))
    }
}
