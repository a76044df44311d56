/// Limits on what a peer may send. Exceeding a limit is an error with its own reason.
package struct ParseLimits: Equatable, Sendable {
    /// Bytes of a request line without its CRLF; above it 414. RFC 9112 §3 recommends at least 8,000.
    package var requestLineLength = 16 * 1024
    /// Bytes of a status line without its CRLF.
    package var statusLineLength = 8 * 1024
    /// Bytes of a head from its start line to its empty line; above it 431.
    package var headLength = 64 * 1024
    /// Field lines of a head; above it 431.
    package var fieldCount = 100
    /// Empty lines skipped before a request line (RFC 9112 §2.2 requires at least one).
    package var leadingEmptyLineCount = 4
    /// Bytes of a chunk's size and extensions without their CRLF. A size has at most 16 digits, and few peers send extensions.
    package var chunkLineLength = 256
    /// Bytes of all chunk extensions of one body (RFC 9112 §7.1.1).
    package var chunkExtensionsLength = 16 * 1024
    /// Bytes of a trailer section with its empty line. Typical trailers are a digest, a signature, a status or timings.
    package var trailerSectionLength = 8 * 1024
    /// Field lines of a trailer section.
    package var trailerFieldCount = 100
    /// Bytes of the TLS records that hold a ClientHello.
    package var clientHelloLength = 32 * 1024
    /// Informational responses before the final one; the reader of the connection counts them.
    package var informationalResponseCount = 8

    package init() {}
}
