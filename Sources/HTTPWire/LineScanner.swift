import HTTPMessage

/// Finds the ends of a message's lines, and rejects control bytes that a line must not contain.
///
/// A CR is only allowed before an LF, and an LF only after a CR (RFC 9112 §2.2). NUL and other control characters are not allowed
/// (RFC 9110 §5.5). The content of a line is parsed once the line is complete. Limits and errors are reported in the order of the
/// bytes, so the result does not depend on how the bytes were split into reads. The scanner remembers how far it has searched. A
/// message that arrives byte by byte therefore costs no more than a message that arrives at once.
struct LineScanner: Sendable {
    /// The position at which the current line starts.
    private(set) var lineStart = 0
    private var scanned = 0

    init() {}

    /// The position of the CRLF that ends the line; `nil` if it has not arrived. Throws if more than `lengthLimit` bytes come before
    /// it.
    @inline(__always)
    mutating func endOfLine(in bytes: Span<UInt8>, lengthLimit: Int) throws(SectionError) -> Int? {
        var position = bytes.firstControl(from: scanned)
        while true {
            if position - lineStart > lengthLimit { throw .tooLong }
            guard position + 1 < bytes.count else { break }
            if bytes[position] == ASCII.cr, bytes[position + 1] == ASCII.lf { return position }
            guard bytes[position] == ASCII.tab else { throw Self.fault(of: bytes[position]) }
            position = bytes.firstControl(from: position + 1)
        }
        scanned = try Self.checkLast(position, of: bytes)
        return nil
    }

    /// Moves to the line after the one that ended at `end`.
    mutating func advance(past end: Int) {
        lineStart = end + 2
        scanned = lineStart
    }

    /// Returns the position at which to resume when there is more input. Throws if the control byte at the end of the input cannot
    /// become valid.
    private static func checkLast(_ position: Int, of bytes: Span<UInt8>) throws(SectionError) -> Int {
        guard position < bytes.count, bytes[position] != ASCII.cr else { return position }
        guard bytes[position] == ASCII.tab else { throw fault(of: bytes[position]) }
        return position + 1
    }

    private static func fault(of octet: UInt8) -> SectionError {
        switch octet {
        case ASCII.cr: .line(.bareCarriageReturn)
        case ASCII.lf: .line(.bareLineFeed)
        case 0: .line(.nul)
        default: .line(.controlOctet)
        }
    }
}
