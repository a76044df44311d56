/// A reply of an engine that speaks RESP2 or RESP3, the protocol of Redis and Valkey.
package indirect enum RESPValue: Equatable, Sendable {
    /// A simple string, a double or a big number, as text.
    case text([UInt8])
    /// A bulk or verbatim string.
    case bytes([UInt8])
    case integer(Int64)
    case flag(Bool)
    case null
    case error(EngineError)
    /// An array or a set. A map is a list in which values follow their keys.
    case list([RESPValue])
    /// A message that the engine sends without a request (RESP3).
    case push([RESPValue])

    /// The bytes of a string; `nil` for other values.
    package var octets: [UInt8]? {
        switch self {
        case .text(let octets), .bytes(let octets): octets
        case .integer, .flag, .null, .error, .list, .push: nil
        }
    }

    /// The number, also if it was sent as a string; `nil` for other values.
    package var number: Int64? {
        switch self {
        case .integer(let number): number
        case .text(let octets), .bytes(let octets): octets.count <= 20 ? Int64(String(decoding: octets, as: UTF8.self)) : nil
        case .flag, .null, .error, .list, .push: nil
        }
    }

    /// The elements of a list; `nil` for other values.
    package var elements: [RESPValue]? { if case .list(let elements) = self { elements } else { nil } }

    package var string: String? { octets.map { String(decoding: $0, as: UTF8.self) } }
}

/// Limits on one reply.
package struct RESPLimits: Sendable {
    /// The maximum length of a line, in bytes.
    package var line = 4096
    /// The maximum length of a string, in bytes.
    package var string = 8 << 20
    /// The maximum number of elements in one reply, at all depths.
    package var elements = 1 << 16
    package var depth = 8
    /// The maximum length of a reply, in bytes.
    package var reply = 32 << 20

    package init() {}
}

/// Why bytes are not RESP. The connection cannot be used any more.
package enum RESPFault: Error, Equatable, Sendable {
    case malformed, tooLong, tooManyElements, tooDeep
}
