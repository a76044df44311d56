import Foundation
import HTTPSerialization

/// Digests of files, read piece by piece.
enum FileDigest {
    static let pieceLength = 1 << 20

    /// - Throws: also once the task is cancelled.
    static func make(of part: PartFile, by algorithm: DigestAlgorithm) throws(FetchFailure) -> ContentDigest {
        let hasher = DigestHasher(algorithm)
        var offset: UInt64 = 0
        while true {
            if Task.isCancelled { throw .interrupted }
            let octets = try part.read(at: offset, atMost: pieceLength)
            if octets.isEmpty { return hasher.finish() }
            hasher.update(octets.span)
            offset += UInt64(octets.count)
        }
    }

    /// - Returns: `nil` where it cannot be read.
    /// - Throws: once the task is cancelled.
    static func make(ofFileAt path: String, by algorithm: DigestAlgorithm) throws(FetchFailure) -> ContentDigest? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }  // nothing was written
        let hasher = DigestHasher(algorithm)
        // What cannot be read to its end has another digest.
        while let piece = try? file.read(upToCount: pieceLength), !piece.isEmpty {
            if Task.isCancelled { throw .interrupted }
            hasher.update(Array(piece).span)
        }
        return hasher.finish()
    }

    /// As tools print it, and `--digest` reads it.
    static func text(_ digest: ContentDigest) -> String {
        let digits = digest.octets.map { octet in
            let digits = String(octet, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }
        return "\(digest.algorithm.rawValue.filter { $0 != "-" }):\(digits.joined())"
    }
}
