import Foundation

/// Reads a file or pipe line by line. Keeps at most one line and one read in memory, whatever the file's length.
package struct LineReader {
    package enum Line: Equatable {
        /// A complete line, without its line end.
        case whole([UInt8])
        /// A line that is longer than the limit. Its content is skipped.
        case tooLong
    }

    private let file: FileHandle
    private let limit: Int
    /// The bytes read; those from `start` on are not yet returned.
    private var bytes: [UInt8] = []
    private var start = 0
    /// The index up to which no line end was found.
    private var searched = 0
    private var isPassingOver = false
    private var isAtEnd = false

    private static let readLength = 64 * 1024

    /// - Parameter path: `-` is standard input.
    package init(path: String, limit: Int) throws(LocalFile.Unreadable) {
        guard path != "-" else {
            self.init(.standardInput, limit: limit)
            return
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LocalFile.Unreadable(reason: String(cString: strerror(errno))) }
        self.init(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), limit: limit)
    }

    package init(_ file: FileHandle, limit: Int) {
        self.file = file
        self.limit = limit
    }

    /// - Returns: `nil` after the last line. Text after the last line end is a line too.
    package mutating func next() throws(LocalFile.Unreadable) -> Line? {
        while true {
            if let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = bytes[start..<end]
                start = end + 1
                searched = start
                return taken(line)
            }
            searched = bytes.count
            if isAtEnd {
                let rest = bytes[start...]
                start = bytes.count
                return rest.isEmpty && !isPassingOver ? nil : taken(rest)
            }
            if bytes.count - start > limit {
                isPassingOver = true
                start = bytes.count
            }
            try read()
        }
    }

    private mutating func taken(_ line: ArraySlice<UInt8>) -> Line {
        defer { isPassingOver = false }
        return isPassingOver || line.count > limit ? .tooLong : .whole(Array(line))
    }

    private mutating func read() throws(LocalFile.Unreadable) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        do {
            let piece = try file.read(upToCount: Self.readLength) ?? Data()
            isAtEnd = piece.isEmpty
            bytes += piece
        } catch {
            throw LocalFile.Unreadable(reason: "the read failed")
        }
    }
}
