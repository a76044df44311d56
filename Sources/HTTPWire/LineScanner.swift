import HTTPMessage

/// Finds the ends of a message's lines, and on the way refuses every control byte that no line may hold.
///
/// A CR may only stand before a LF and a LF only behind a CR (RFC 9112 §2.2), NUL and the other controls nowhere
/// (RFC 9110 §5.5). What a line holds is looked at once it is whole, and limits and faults are found in the order of the
/// bytes, so that the result does not depend on how the bytes were cut into reads. It remembers how far it looked:
/// a message that comes byte by byte costs no more than one that comes whole.
struct LineScanner: Sendable {
    /// Where the line that is being read starts.
    private(set) var lineStart = 0
    private var scanned = 0

    init() {}

    /// Where the CRLF of the line stands, which may have up to `lengthLimit` bytes before it; `nil` if it is not there yet.
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

    /// Goes on to the line behind the one that ended at `end`.
    mutating func advance(past end: Int) {
        lineStart = end + 2
        scanned = lineStart
    }

    /// Says from where to look on when there is more; a control at the very end that can only be wrong is said to be.
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
