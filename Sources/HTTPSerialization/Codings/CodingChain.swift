/// Limits for the output of content codings (threat T35 in docs/threats.md).
public struct CodingLimits: Hashable, Sendable {
    /// The maximum length in bytes, for the body as received and for the output of each coding.
    public var length: UInt64
    /// Maximum ratio of the decoded length to the received length. It applies to decoded lengths above `ratioFloor`.
    public var ratio: UInt64
    /// The decoded length, in bytes, up to which any ratio is accepted.
    public var ratioFloor: UInt64

    /// Creates limits with these values.
    public init(length: UInt64 = .max, ratio: UInt64 = 256, ratioFloor: UInt64 = 1 << 20) {
        self.length = length
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }
}

/// Why content cannot be decoded.
public enum CodingFault: String, Error, Hashable, Sendable {
    /// The encoded data is invalid: a wrong checksum, an impossible code, a truncated stream, or bytes after the end.
    case malformed = "malformed_coding"
    /// The output exceeds the limits.
    case tooLarge = "body_too_large"
}

/// Decodes several content codings within limits, the outermost first. Confined to the thread that decodes the body.
final class CodingChain {
    private let limits: CodingLimits
    /// The decoders in the order in which they run: the one for the outermost coding first.
    private let decoders: [any CodingDecoder]
    /// How many bytes entered each decoder. The last element is the length of the final output.
    private var lengths: [UInt64]

    /// - Parameter codings: the codings in the order in which they were applied.
    init(_ codings: [ContentCoding], limits: CodingLimits) {
        self.limits = limits
        decoders = codings.reversed().map { $0.makeDecoder() }
        lengths = Array(repeating: 0, count: decoders.count + 1)
    }

    /// Whether the body may end here: every decoder has reached the end of its data.
    var permitsEnd: Bool { decoders.allSatisfy(\.permitsEnd) }

    /// Decodes all of `octets`, and passes the output to `take` in pieces. After this method has thrown an error, this
    /// object must not be used again.
    func decode<Failure: Error>(
        _ octets: Span<UInt8>, failing: (CodingFault) -> Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        try decode(octets, stage: 0, failing: failing, take: take)
    }

    private func decode<Failure: Error>(
        _ octets: Span<UInt8>, stage: Int, failing: (CodingFault) -> Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        lengths[stage] += UInt64(octets.count)
        let isBomb = lengths[stage] > limits.ratioFloor && lengths[stage] / limits.ratio > lengths[0]
        if lengths[stage] > limits.length || isBomb { throw failing(.tooLarge) }
        guard stage < decoders.count else { return try take(octets) }
        try decoders[stage].decode(octets, orFail: failing(.malformed)) { decoded throws(Failure) in
            try decode(decoded, stage: stage + 1, failing: failing, take: take)
        }
    }
}
