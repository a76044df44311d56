/// Takes one content coding off a body that comes in pieces. Confined to whoever decodes the body.
///
/// It produces at most a buffer at a time, so whoever takes the output can stop it; what is bounded, and by how much, is
/// their affair.
protocol CodingDecoder: AnyObject {
    /// Decodes all of `input`, and gives what comes out to `take` in pieces.
    ///
    /// Throws `malformed` where the coding is not what it says: a bad check value, an impossible code, bytes behind its end.
    /// After anything thrown this object is of no more use.
    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure)

    /// Whether the body may end here: nothing came, or the coding reached its own end.
    var permitsEnd: Bool { get }
}

extension ContentCoding {
    func makeDecoder() -> any CodingDecoder {
        switch self {
        case .gzip, .deflate: Inflater(self)
        case .brotli: BrotliDecoder()
        case .zstandard: ZstandardDecoder()
        }
    }
}
