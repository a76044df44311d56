import HTTPMessage

/// Finds the ends of a message's lines, and on the way refuses every control octet that no line may hold.
///
/// A CR may only stand before a LF and a LF only behind a CR (RFC 9112 §2.2), NUL and the other controls nowhere
/// (RFC 9110 §5.5). What a line holds is looked at once it is whole, and limits and faults are found in the order of the
/// octets, so that the result does not depend on how the octets were cut into reads. It remembers how far it looked:
/// a message that comes octet by octet costs no more than one that comes whole.
struct LineScanner: Sendable {
    enum Outcome {
        /// A line without faults from `start` to before `end`, where its CRLF stands.
        case line(end: Int)
        case incomplete
        case tooLong
        case fault(LineFault)
    }

    /// Where the line that is being read starts.
    private(set) var lineStart = 0
    private var scanned = 0

    init() {}

    /// Looks for the end of the line, which may have up to `lengthLimit` octets before its CRLF.
    mutating func scan(_ bytes: Span<UInt8>, lengthLimit: Int) -> Outcome {
        var position = scanned
        while true {
            position = ControlOctet.first(in: bytes, from: position)
            if position - lineStart > lengthLimit { return .tooLong }
            scanned = position
            guard position < bytes.count else { return .incomplete }
            let octet = bytes[position]
            if octet == ASCII.cr {
                guard position + 1 < bytes.count else { return .incomplete }
                return bytes[position + 1] == ASCII.lf ? .line(end: position) : .fault(.bareCarriageReturn)
            }
            guard octet == ASCII.tab else { return .fault(Self.fault(of: octet)) }
            position += 1
        }
    }

    /// Goes on to the line behind the one that ended at `end`.
    mutating func advance(past end: Int) {
        lineStart = end + 2
        scanned = lineStart
    }

    private static func fault(of octet: UInt8) -> LineFault {
        switch octet {
        case ASCII.lf: .bareLineFeed
        case 0: .nul
        default: .controlOctet
        }
    }
}
