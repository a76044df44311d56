import Glibc

/// Reads a form piece by piece, from its first delimiter to its last. Confined to one thread at a time; each reader starts from
/// the beginning.
public final class MultipartReader {
    private enum Place {
        case head(Int)
        case content(Int, left: UInt64)
        case closing, end
    }

    /// The default maximum length of a piece, in bytes.
    public static let defaultPieceLength = 64 << 10

    private let form: MultipartForm
    private var place: Place
    private var file: PartFile?
    private var nextPiece: (() throws -> [UInt8]?)?
    /// The offset of the next piece of bytes in memory.
    private var offset = 0

    init(_ form: MultipartForm) {
        self.form = form
        place = form.isEmpty ? .end : .head(0)
    }

    /// The next bytes, with at most `pieceLength` bytes of a part's content, or `nil` at the end.
    /// - Throws: `unreadableFile`, `changedLength`. After an error there are no more bytes.
    public func next(upTo pieceLength: Int = defaultPieceLength) throws(RequestSerializationError) -> [UInt8]? {
        do throws(RequestSerializationError) {
            return try step(pieceLength)
        } catch {
            place = .end
            throw error
        }
    }

    private func step(_ pieceLength: Int) throws(RequestSerializationError) -> [UInt8]? {
        switch place {
        case .head(let number):
            let part = form.parts[number]
            try begin(part)
            place = .content(number, left: part.length)
            return part.head
        case .content(let number, 0):
            try end(form.parts[number])
            place = number + 1 < form.parts.count ? .head(number + 1) : .closing
            return [0x0D, 0x0A]
        case .content(let number, let left):
            let piece = try piece(of: form.parts[number], upTo: Int(min(left, UInt64(pieceLength))))
            guard !piece.isEmpty, UInt64(piece.count) <= left else { throw changed(form.parts[number]) }
            place = .content(number, left: left - UInt64(piece.count))
            return piece
        case .closing:
            place = .end
            return form.closing
        case .end: return nil
        }
    }

    private func begin(_ part: MultipartForm.Part) throws(RequestSerializationError) {
        switch part.source {
        case .octets: offset = 0
        case .file(let path):
            let opened = try PartFile(path)
            guard opened.length == part.length else { throw changed(part) }
            file = opened
        case .pieces(let make):
            do { nextPiece = try make() } catch { throw RequestSerializationError(.unreadableFile, part.name) }
        }
    }

    private func piece(of part: MultipartForm.Part, upTo count: Int) throws(RequestSerializationError) -> [UInt8] {
        switch part.source {
        case .octets(let octets):
            offset += count
            return Array(octets[offset - count..<offset])
        case .file: return try file?.read(upTo: count) ?? []
        case .pieces: return try ownPiece(of: part)
        }
    }

    private func end(_ part: MultipartForm.Part) throws(RequestSerializationError) {
        let isLonger =
            switch part.source {
            case .octets: false
            case .file: try file?.read(upTo: 1).isEmpty == false
            case .pieces: try !ownPiece(of: part).isEmpty
            }
        file = nil
        nextPiece = nil
        if isLonger { throw changed(part) }
    }

    /// - Returns: an empty array at the end of the part.
    private func ownPiece(of part: MultipartForm.Part) throws(RequestSerializationError) -> [UInt8] {
        do {
            while let piece = try nextPiece?() {
                if !piece.isEmpty { return piece }
            }
            return []
        } catch {
            throw RequestSerializationError(.unreadableFile, part.name)
        }
    }

    private func changed(_ part: MultipartForm.Part) -> RequestSerializationError {
        RequestSerializationError(.changedLength, part.name)
    }
}

extension MultipartForm {
    /// A reader at the beginning of the form.
    public func makeReader() -> MultipartReader { MultipartReader(self) }

    /// The whole form in memory, for small forms.
    public func octets() throws(RequestSerializationError) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(Int(length))
        let reader = makeReader()
        while let piece = try reader.next() { octets += piece }
        return octets
    }

    /// Writes the whole form to a new file that only its owner may read, to be sent by its path.
    /// - Throws: `unreadableFile` if the file exists or cannot be written; a partly written file is removed.
    public func write(toFile path: String) throws(RequestSerializationError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RequestSerializationError(.unreadableFile, path) }
        defer { close(descriptor) }
        do throws(RequestSerializationError) {
            let reader = makeReader()
            while let piece = try reader.next() {
                var written = 0
                while written < piece.count {
                    let result = piece.withUnsafeBytes {
                        Glibc.write(descriptor, $0.baseAddress! + written, piece.count - written)
                    }
                    if result < 0 && errno == EINTR { continue }
                    guard result > 0 else { throw RequestSerializationError(.unreadableFile, path) }
                    written += result
                }
            }
        } catch {
            unlink(path)
            throw error
        }
    }
}
