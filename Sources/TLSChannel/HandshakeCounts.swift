/// How many TLS handshakes ended in which way.
package struct HandshakeCounts: Sendable {
    package enum Result: Int, CaseIterable, Sendable {
        /// Handshakes that made a new session.
        case full
        /// Handshakes that resumed an earlier session.
        case resumed
        /// Handshakes that failed because one side did not accept the other's certificate.
        case untrusted
        /// Handshakes that failed for another reason: no common version, a peer that left, a timeout.
        case failed
    }

    private var counts = InlineArray<4, UInt64>(repeating: 0)

    package init() {}

    package subscript(_ result: Result) -> UInt64 { counts[result.rawValue] }

    package mutating func note(_ result: Result) { counts[result.rawValue] &+= 1 }

    package static func += (left: inout HandshakeCounts, right: HandshakeCounts) {
        for index in left.counts.indices { left.counts[index] &+= right.counts[index] }
    }
}
