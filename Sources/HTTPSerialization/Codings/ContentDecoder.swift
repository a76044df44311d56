import HTTPMessage

/// Decodes the content codings of a response (RFC 9110 §8.4) as it arrives. Confined to the thread that reads the response.
public final class ContentDecoder {
    /// The value for a request's Accept-Encoding: the supported codings, best first.
    public static let acceptEncoding = "zstd, br, gzip, deflate"

    private let chain: CodingChain
    private let isPlain: Bool
    private var fault: CodingFault?

    /// - Parameters:
    ///   - contentEncoding: the value of each Content-Encoding line, in order; empty for a body that is not encoded.
    ///   - limits: limits for the output.
    /// - Returns: `nil` for an unknown coding, and for more than two codings.
    public init?(contentEncoding: [String], limits: CodingLimits = CodingLimits()) {
        var fields = Fields()
        for value in contentEncoding { fields.append(name: "Content-Encoding", value: value) }
        guard case .known(let codings) = ContentCodings(of: fields) else { return nil }
        chain = CodingChain(codings, limits: limits)
        isPlain = codings.isEmpty
    }

    /// Whether no coding was applied: the bytes received are the content.
    public var isIdentity: Bool { isPlain }

    /// Decodes the next bytes of the body.
    /// - Parameters:
    ///   - octets: the bytes that follow those of the previous call.
    ///   - take: receives the output. If the body is encoded, the output comes in pieces of at most 16 KiB. An error that `take`
    ///     throws is rethrown.
    /// - Throws: `CodingFault`. After any error there is no more output.
    public func decode(_ octets: Span<UInt8>, take: (Span<UInt8>) throws -> Void) throws {
        if let fault { throw fault }
        do {
            try chain.decode(octets, failing: { $0 as any Error }, take: take)
        } catch {
            fault = error as? CodingFault ?? .malformed
            throw error
        }
    }

    /// Ends the body.
    /// - Throws: `malformed` if the encoded data is incomplete.
    public func finish() throws(CodingFault) {
        if let fault { throw fault }
        guard chain.permitsEnd else { throw .malformed }
    }

    /// Decodes a whole body.
    public static func decoded(
        _ body: [UInt8], contentEncoding: [String], limits: CodingLimits = CodingLimits()
    ) throws(CodingFault) -> [UInt8] {
        guard let decoder = ContentDecoder(contentEncoding: contentEncoding, limits: limits) else { throw .malformed }
        var content: [UInt8] = []
        try decoder.chain.decode(body.span, failing: { $0 }) { (piece) throws(CodingFault) in content.append(piece) }
        try decoder.finish()
        return content
    }
}
