/// Limits on the input from a peer. For each limit that is exceeded, there is a separate error.
package struct ParseLimits: Equatable, Sendable {
    /// The maximum length of a request line without its CRLF, in bytes. The client gets 414 for a longer line. RFC 9112 §3
    /// recommends at least 8,000 bytes.
    package var requestLineLength = 16 * 1024
    /// The maximum length of a status line without its CRLF, in bytes.
    package var statusLineLength = 8 * 1024
    /// The maximum length of a head from its start line to its empty line, in bytes. The client gets 431 for a longer head.
    package var headLength = 64 * 1024
    /// The maximum number of field lines in a head. The client gets 431 for more lines.
    package var fieldCount = 100
    /// The maximum number of empty lines that are skipped before a request line (RFC 9112 §2.2 requires at least one).
    package var leadingEmptyLineCount = 4
    /// The maximum length of a chunk's size and extensions without their CRLF, in bytes. A size has at most 16 digits, and few peers
    /// send extensions.
    package var chunkLineLength = 256
    /// The maximum length of all chunk extensions of one body together, in bytes (RFC 9112 §7.1.1).
    package var chunkExtensionsLength = 16 * 1024
    /// The maximum length of a trailer section with its empty line, in bytes. Typical trailers are a digest, a signature, a status or
    /// timings.
    package var trailerSectionLength = 8 * 1024
    /// The maximum number of field lines in a trailer section.
    package var trailerFieldCount = 100
    /// The maximum length of the TLS records that hold a ClientHello, in bytes.
    package var clientHelloLength = 32 * 1024
    /// The maximum number of informational responses before the final response. The code that reads the connection counts them.
    package var informationalResponseCount = 8

    package init() {}
}
