/// Decodes one content coding of a body that arrives in pieces. Confined to the thread that decodes the body.
///
/// A decoder produces at most one buffer of output at a time, so that `take` can stop it. The caller limits the output.
protocol CodingDecoder: AnyObject {
    /// Decodes all of `input`, and passes the output to `take` in pieces.
    ///
    /// Throws `malformed` if the encoded data is invalid: a wrong checksum, an impossible code, or bytes after the end. After an
    /// error, this object must not be used again.
    func decode<Failure: Error>(
        _ input: Span<UInt8>, orFail malformed: Failure, take: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure)

    /// Whether the body may end here: no bytes have arrived, or the encoded data is complete.
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
