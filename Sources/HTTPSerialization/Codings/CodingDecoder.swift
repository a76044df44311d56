/// Decodes one content coding of a body that arrives in pieces. Confined to the thread that decodes the body.
///
/// It produces at most one buffer of output at a time, so the caller's `take` can stop it. The caller limits the output.
protocol CodingDecoder: AnyObject {
    /// Decodes all of `input`, and passes the output to `take` in pieces.
    ///
    /// Throws `malformed` if the data is invalid in its coding: a wrong checksum, an impossible code, bytes after its end.
    /// After it has thrown, this object must not be used again.
    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure)

    /// Whether the body may end here: no bytes arrived, or the coding reached its own end.
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
