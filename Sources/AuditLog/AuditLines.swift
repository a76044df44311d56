import Glibc
import HTTPMessage

/// Reads a file line by line.
enum AuditLines {
    private static let pieceLength = 1 << 20

    /// - Parameter take: gets each complete line without its line break. A line beyond the limit arrives cut.
    /// - Returns: the number of bytes in complete lines.
    static func read(
        _ descriptor: Int32, _ take: (ArraySlice<UInt8>) -> Void
    ) throws(SmallFile.Failure) -> Int64 {
        var offset: Int64 = 0
        var complete: Int64 = 0
        var held: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: pieceLength)
        while true {
            let count = piece.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, pieceLength, off_t(offset)) }
            if count < 0 {
                if errno == EINTR { continue }
                throw SmallFile.Failure(code: errno)
            }
            if count == 0 { return complete }
            offset += Int64(count)
            var rest = piece[..<count]
            while let end = rest.firstIndex(of: ASCII.lf) {
                if held.isEmpty {
                    take(rest[..<end])
                } else {
                    held += rest[..<end]
                    take(held[...])
                    held.removeAll(keepingCapacity: true)
                }
                rest = rest[(end + 1)...]
                complete = offset - Int64(rest.count)
            }
            // A line beyond the limit is kept only up to one byte more, which suffices to reject it.
            held += rest.prefix(max(0, AuditLine.lengthLimit + 1 - held.count))
        }
    }
}
