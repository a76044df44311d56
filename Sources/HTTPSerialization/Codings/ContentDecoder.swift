import HTTPMessage

/// Takes a response's content codings off (RFC 9110 §8.4) while it comes. Confined to whoever reads the response.
public final class ContentDecoder {
    /// For a request's Accept-Encoding: what can be taken off, the best first.
    public static let acceptEncoding = "zstd, br, gzip, deflate"

    private let chain: CodingChain
    private let isPlain: Bool
    private var fault: CodingFault?

    /// - Parameters:
    ///   - contentEncoding: the value of each Content-Encoding line, in order; none for a body that is not encoded.
    ///   - limits: of what may come out.
    /// - Returns: `nil` for a coding that is not known, and for more of them around each other than two.
    public init?(contentEncoding: [String], limits: CodingLimits = CodingLimits()) {
        var fields = Fields()
        for value in contentEncoding { fields.append(name: "Content-Encoding", value: value) }
        guard case .known(let codings) = ContentCodings(of: fields) else { return nil }
        chain = CodingChain(codings, limits: limits)
        isPlain = codings.isEmpty
    }

    /// Whether there is nothing to take off: what comes is the content.
    public var isIdentity: Bool { isPlain }

    /// Goes on with the next bytes of the body.
    /// - Parameters:
    ///   - octets: behind those of the call before.
    ///   - take: is given what comes out, in pieces of 16 KiB at most where there is a coding; what it throws is thrown on.
    /// - Throws: `CodingFault`. Nothing more comes out after anything thrown.
    public func decode(_ octets: Span<UInt8>, take: (Span<UInt8>) throws -> Void) throws {
        if let fault { throw fault }
        do {
            try chain.decode(octets, failing: { $0 as any Error }, take: take)
        } catch {
            fault = error as? CodingFault ?? .malformed
            throw error
        }
    }

    /// The body ends here.
    /// - Throws: `malformed` where a coding has not come to its own end.
    public func finish() throws(CodingFault) {
        if let fault { throw fault }
        guard chain.permitsEnd else { throw .malformed }
    }

    /// A whole body at once.
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
