/// How much may come out of content codings (T35).
public struct CodingLimits: Hashable, Sendable {
    /// In bytes, for the body as it comes and for what comes out of each coding.
    public var length: UInt64
    /// How many times longer than the body itself its decoded form may be, once it is past `ratioFloor`.
    public var ratio: UInt64
    /// In octets: below, no ratio is suspicious.
    public var ratioFloor: UInt64

    /// These limits.
    public init(length: UInt64 = .max, ratio: UInt64 = 256, ratioFloor: UInt64 = 1 << 20) {
        self.length = length
        self.ratio = ratio
        self.ratioFloor = ratioFloor
    }
}

/// Why content does not come out of its codings.
public enum CodingFault: String, Error, Hashable, Sendable {
    /// Not what the coding says: a bad check value, an impossible code, a cut stream, bytes behind the end.
    case malformed = "malformed_coding"
    /// More came out than the limits permit.
    case tooLarge = "body_too_large"
}

/// Takes several content codings off a body, the outermost first, within limits. Confined to whoever decodes the body.
final class CodingChain {
    private let limits: CodingLimits
    /// The outermost coding first: the order in which they are taken off.
    private let decoders: [any CodingDecoder]
    /// Bytes that came into each decoder and, last, out of all.
    private var lengths: [UInt64]

    /// - Parameter codings: in the order in which they were applied.
    init(_ codings: [ContentCoding], limits: CodingLimits) {
        self.limits = limits
        decoders = codings.reversed().map { $0.makeDecoder() }
        lengths = Array(repeating: 0, count: decoders.count + 1)
    }

    /// Whether the body may end here.
    var permitsEnd: Bool { decoders.allSatisfy(\.permitsEnd) }

    /// Decodes all of `octets`, and gives what comes out to `take` in pieces. After anything thrown this object is of no more use.
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
