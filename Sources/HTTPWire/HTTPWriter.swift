import HTTPMessage

/// Writes start lines and whole heads. Always with our own version, HTTP/1.1 (RFC 9112 §2.3), unless another is given.
package enum HTTPWriter {
    /// Writes `method SP request-target SP HTTP-version CRLF` (RFC 9112 §3).
    package static func writeRequestLine(
        method: Span<UInt8>, target: Span<UInt8>, version: HTTPVersion = .http11, into output: inout [UInt8]
    ) {
        output.append(method)
        output.append(ASCII.space)
        output.append(target)
        output.append(ASCII.space)
        write(version, into: &output)
        writeLineEnd(into: &output)
    }

    /// Writes the status line of a response that came, with the reason phrase that it had (RFC 9112 §4).
    package static func writeStatusLine(
        _ status: Status, reasonOf head: ResponseHead, version: HTTPVersion = .http11, into output: inout [UInt8]
    ) {
        write(status, version: version, into: &output)
        output.append(head.span(of: head.reason))
        writeLineEnd(into: &output)
    }

    /// Writes the status line of a response that is made here, with the usual reason phrase.
    package static func writeStatusLine(_ status: Status, version: HTTPVersion = .http11, into output: inout [UInt8]) {
        write(status, version: version, into: &output)
        output.append(status.reasonPhrase)
        writeLineEnd(into: &output)
    }

    /// Writes `name: value CRLF`.
    package static func writeField(_ name: StaticString, _ value: Span<UInt8>, into output: inout [UInt8]) {
        output.append(name)
        output.append(ASCII.colon)
        output.append(ASCII.space)
        output.append(value)
        writeLineEnd(into: &output)
    }

    /// Writes `name: value CRLF`.
    package static func writeField(_ name: StaticString, _ value: StaticString, into output: inout [UInt8]) {
        output.append(name)
        output.append(ASCII.colon)
        output.append(ASCII.space)
        output.append(value)
        writeLineEnd(into: &output)
    }

    /// Writes `name: number CRLF`.
    package static func writeField(_ name: StaticString, decimal number: UInt64, into output: inout [UInt8]) {
        output.append(name)
        output.append(ASCII.colon)
        output.append(ASCII.space)
        output.append(decimal: number)
        writeLineEnd(into: &output)
    }

    /// Writes every field line, in order.
    package static func writeFields(_ fields: Fields, into output: inout [UInt8]) {
        for line in fields.lines { fields.write(line, into: &output) }
    }

    /// Writes CRLF: the end of a line, or of a head.
    package static func writeLineEnd(into output: inout [UInt8]) {
        output.append(ASCII.cr)
        output.append(ASCII.lf)
    }

    private static func write(_ status: Status, version: HTTPVersion, into output: inout [UInt8]) {
        write(version, into: &output)
        output.append(ASCII.space)
        output.append(decimal: UInt64(status.code))
        output.append(ASCII.space)
    }

    private static func write(_ version: HTTPVersion, into output: inout [UInt8]) {
        if version == .http11 {
            output.append("HTTP/1.1")
        } else {
            output.append("HTTP/")
            output.append(0x30 + version.major)
            output.append(UInt8(ascii: "."))
            output.append(0x30 + version.minor)
        }
    }
}
