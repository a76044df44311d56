import HTTPMessage

/// The parameters of `permessage-deflate` (RFC 7692 §7.1) that both sides have agreed on.
package struct DeflateParameters: Equatable, Sendable {
    /// Whether a message of the client may refer to its earlier messages (context takeover).
    package var clientKeepsContext = true
    package var serverKeepsContext = true
    /// The size of the client's window as a power of two, 8 to 15.
    package var clientWindowBits = 15
    package var serverWindowBits = 15

    package init() {}
}

/// What a client offers for `permessage-deflate`.
package struct DeflateOffer: Equatable, Sendable {
    /// Asks the server to compress each message by itself: less memory here, and worse compression.
    package var serverKeepsContext = true
    /// Says that the client will compress each message by itself.
    package var clientKeepsContext = true
    /// The largest window that the server may use, as a power of two, 8 to 15.
    package var serverWindowBits = 15
    /// The largest window that the client will use, as a power of two, 9 to 15.
    package var clientWindowBits = 15

    package init() {}

    /// The element for `Sec-WebSocket-Extensions`.
    package var text: String {
        var text = "permessage-deflate"
        if !serverKeepsContext { text += "; server_no_context_takeover" }
        if !clientKeepsContext { text += "; client_no_context_takeover" }
        if serverWindowBits < 15 { text += "; server_max_window_bits=\(serverWindowBits)" }
        // Without a value the parameter only says that the server may choose one (RFC 7692 §7.1.2.2).
        text += clientWindowBits < 15 ? "; client_max_window_bits=\(clientWindowBits)" : "; client_max_window_bits"
        return text
    }

    /// Why a server's response to the offer is invalid.
    package enum Fault: String, Error, Sendable {
        /// The server has chosen an extension that was not offered, or one extension twice.
        case unknownExtension = "unknown_extension"
        case unknownParameter = "unknown_parameter"
        case repeatedParameter = "repeated_parameter"
        case malformedValue = "malformed_value"
        /// The server has not accepted a parameter that it must accept, or chose a larger window than offered.
        case ignoredOffer = "ignored_offer"
    }

    /// Reads the value of `Sec-WebSocket-Extensions` in a response to `offer`.
    /// - Parameter offer: `nil` if no extension was offered.
    /// - Returns: `nil` if the server has chosen no extension.
    package static func accepted(_ value: Span<UInt8>, of offer: DeflateOffer?) throws(Fault) -> DeflateParameters? {
        var elements = ListElements()
        var accepted: DeflateParameters?
        while let range = elements.next(in: value) {
            guard let offer, accepted == nil else { throw .unknownExtension }
            accepted = try offer.parameters(of: value.extracting(range))
        }
        return accepted
    }

    private func parameters(of element: Span<UInt8>) throws(Fault) -> DeflateParameters {
        var parts: [(name: [UInt8], value: [UInt8]?)] = []
        for part in Self.split(element) { parts.append(Self.nameAndValue(part)) }
        guard let first = parts.first, first.value == nil, first.name.span.equalsIgnoringCase("permessage-deflate") else {
            throw .unknownExtension
        }
        var result = DeflateParameters()
        result.clientKeepsContext = clientKeepsContext
        result.clientWindowBits = clientWindowBits
        var seen: Set<[UInt8]> = []
        for (name, value) in parts.dropFirst() {
            guard seen.insert(name).inserted else { throw .repeatedParameter }
            switch String(decoding: name, as: UTF8.self) {
            case "server_no_context_takeover":
                guard value == nil else { throw .malformedValue }
                result.serverKeepsContext = false
            case "client_no_context_takeover":
                guard value == nil else { throw .malformedValue }
                result.clientKeepsContext = false
            case "server_max_window_bits":
                result.serverWindowBits = try Self.windowBits(value)
                guard result.serverWindowBits <= serverWindowBits else { throw .ignoredOffer }
            case "client_max_window_bits":
                result.clientWindowBits = min(clientWindowBits, try Self.windowBits(value))
            default: throw .unknownParameter
            }
        }
        // RFC 7692 §7.1.1.1, §7.1.2.1: a server that accepts the offer must accept these.
        guard serverKeepsContext || !result.serverKeepsContext else { throw .ignoredOffer }
        guard serverWindowBits == 15 || seen.contains(Array("server_max_window_bits".utf8)) else { throw .ignoredOffer }
        return result
    }

    /// RFC 7692 §7.1.2: a decimal from 8 to 15 without leading zeros.
    private static func windowBits(_ value: [UInt8]?) throws(Fault) -> Int {
        switch value.map({ String(decoding: $0, as: UTF8.self) }) {
        case "8": 8
        case "9": 9
        case "10": 10
        case "11": 11
        case "12": 12
        case "13": 13
        case "14": 14
        case "15": 15
        default: throw .malformedValue
        }
    }

    /// The parts between semicolons, without blanks. No valid value has a semicolon, so a quoted one need not be recognized.
    private static func split(_ element: Span<UInt8>) -> [[UInt8]] {
        var octets: [UInt8] = []
        octets.append(element)
        return octets.split(separator: ASCII.semicolon, omittingEmptySubsequences: false).map { trimmed($0) }
    }

    private static func nameAndValue(_ part: [UInt8]) -> (name: [UInt8], value: [UInt8]?) {
        guard let equals = part.firstIndex(of: ASCII.equals) else { return (part, nil) }
        var value = trimmed(part[(equals + 1)...])
        // A value may be a quoted string if its content is a token (RFC 6455 §9.1).
        if value.count >= 2, value.first == ASCII.quote, value.last == ASCII.quote { value = Array(value[1..<value.count - 1]) }
        return (trimmed(part[..<equals]), value)
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard let start = bytes.firstIndex(where: { !ASCII.isBlank($0) }),
            let end = bytes.lastIndex(where: { !ASCII.isBlank($0) })
        else { return [] }
        return Array(bytes[start...end])
    }
}
