import Foundation
import HTTPMessage
import HTTPSerialization
import TextCoding

/// Computes digests of files, read in pieces.
package enum FileDigest {
    static let pieceLength = 1 << 20

    /// - Throws: an error also if the task is cancelled.
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

    /// - Returns: `nil` if the file cannot be read.
    /// - Throws: an error if the task is cancelled.
    static func make(ofFileAt path: String, by algorithm: DigestAlgorithm) throws(FetchFailure) -> ContentDigest? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }  // after reading, an error of close does not matter
        let hasher = DigestHasher(algorithm)
        // If the file cannot be read to its end, the digest does not match.
        while let piece = try? file.read(upToCount: pieceLength), !piece.isEmpty {
            if Task.isCancelled { throw .interrupted }
            hasher.update(Array(piece).span)
        }
        return hasher.finish()
    }

    /// The digest as text, in the form that tools print and `--digest` accepts.
    static func text(_ digest: ContentDigest) -> String {
        "\(digest.algorithm.rawValue.filter { $0 != "-" }):\(Hexadecimal.encode(digest.octets))"
    }

    /// Parses a digest in the form of `text`.
    /// - Throws: an error that describes a valid digest.
    package static func read(_ text: String) throws(FetchFailure) -> ContentDigest {
        if let digest = ContentDigest(text) { return digest }
        throw FetchFailure(.usage, "bad_digest", "'\(printable(text, limit: 200))' is not a digest: \(fault(of: text))")
    }

    /// Whether the text before the colon is the name of a digest algorithm.
    static func isMeant(_ text: String) -> Bool { text.contains(":") && algorithm(in: text) != nil }

    private static func algorithm(in text: String) -> DigestAlgorithm? {
        let name = text.prefix { $0 != ":" }.lowercased().filter { $0 != "-" }
        return DigestAlgorithm.allCases.first { $0.rawValue.filter { $0 != "-" } == name }
    }

    private static func fault(of text: String) -> String {
        guard isMeant(text), let algorithm = algorithm(in: text) else {
            return "expected sha256: and 64 hexadecimal digits, or sha512: and 128"
        }
        let name = algorithm.rawValue.filter { $0 != "-" }
        let (wanted, count) = (algorithm.length * 2, text.drop { $0 != ":" }.dropFirst().count)
        let found =
            count == 0 ? "nothing" : count == wanted ? "characters that are not hexadecimal digits" : "\(count) characters"
        return "expected \(wanted) hexadecimal digits after \(name):, found \(found)"
    }
}
