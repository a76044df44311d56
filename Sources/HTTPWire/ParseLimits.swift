/// How much of each thing a peer may send. One past a limit is an error with its own reason.
package struct ParseLimits: Equatable, Sendable {
    /// Bytes of a request line without its CRLF; above it 414. RFC 9112 §3 asks for at least 8,000.
    package var requestLineLength = 16 * 1024
    /// Bytes of a status line without its CRLF.
    package var statusLineLength = 8 * 1024
    /// Bytes of a head from its start line to its empty line; above it 431.
    package var headLength = 64 * 1024
    /// Field lines of a head; above it 431.
    package var fieldCount = 100
    /// Empty lines that are passed over before a request line (RFC 9112 §2.2 asks for one).
    package var leadingEmptyLineCount = 4
    /// Bytes of a chunk's size and extensions without their CRLF. A size has 16 digits at most, and hardly a peer sends extensions.
    package var chunkLineLength = 256
    /// Bytes of all chunk extensions of one body (RFC 9112 §7.1.1).
    package var chunkExtensionsLength = 16 * 1024
    /// Bytes of a trailer section with its empty line. Trailers in use are a digest, a signature, a status or timings.
    package var trailerSectionLength = 8 * 1024
    /// Field lines of a trailer section.
    package var trailerFieldCount = 100
    /// Bytes of the records that make up a client's first message in TLS, a ClientHello.
    package var clientHelloLength = 32 * 1024
    /// Informational responses before the final one; counted by who reads the connection.
    package var informationalResponseCount = 8

    package init() {}
}
