/// Limits for the output of content codings (T35).
public struct CodingLimits: Hashable, Sendable {
    /// In bytes, for the body as received and for the output of each coding.
    public var length: UInt64
    /// How many times longer than the body itself its decoded form may be, once it exceeds `ratioFloor`.
    public var ratio: UInt64
    /// In bytes: below this length any ratio is accepted.
    public var ratioFloor: UInt64

    /// These limits.
    public init(length: UInt64 = .max, ratio: UInt64 = 256, ratioFloor: UInt64 = 1 << 20) {
        self.length = length
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }
}

/// Why content cannot be decoded.
public enum CodingFault: String, Error, Hashable, Sendable {
    /// The data is invalid in its coding: a wrong checksum, an impossible code, a truncated stream, bytes after the end.
    case malformed = "malformed_coding"
    /// The output exceeds the limits.
    case tooLarge = "body_too_large"
}

/// Decodes several content codings within limits, the outermost first. Confined to the thread that decodes the body.
final class CodingChain {
    private let limits: CodingLimits
    /// The outermost coding first: the order in which they are decoded.
    private let decoders: [any CodingDecoder]
    /// Bytes that entered each decoder and, last, the bytes of the final output.
    private var lengths: [UInt64]

    /// - Parameter codings: in the order in which they were applied.
    init(_ codings: [ContentCoding], limits: CodingLimits) {
        self.limits = limits
        decoders = codings.reversed().map { $0.makeDecoder() }
        lengths = Array(repeating: 0, count: decoders.count + 1)
    }

    /// Whether the body may end here.
    var permitsEnd: Bool { decoders.allSatisfy(\.permitsEnd) }

    /// Decodes all of `octets`, and passes the output to `take` in pieces. After it has thrown, this object must not be used again.
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
