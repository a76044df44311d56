import HTTPMessage
import RawStructuredFieldValues

/// A digest algorithm that RFC 9530 §5 lists as active. The other algorithms in that list are insecure, and are treated as unknown.
public enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    /// The length of a digest, in bytes.
    public var length: Int { self == .sha256 ? 32 : 64 }
}

/// The digest of some bytes.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    /// The algorithm of the digest.
    public let algorithm: DigestAlgorithm
    /// The digest, of the algorithm's length.
    public let octets: [UInt8]

    /// - Returns: `nil` if the bytes do not have the algorithm's length.
    public init?(_ algorithm: DigestAlgorithm, octets: [UInt8]) {
        guard octets.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.octets = octets
    }

    /// Parses `sha256:` or `sha-512:` followed by hexadecimal digits, as tools print it.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let name = parts[0].lowercased()
        guard
            let algorithm = DigestAlgorithm.allCases.first(where: {
                $0.rawValue == name || $0.rawValue.filter { $0 != "-" } == name
            })
        else { return nil }
        let digits = parts[1].utf8.map(ASCII.hexValue)
        guard digits.count == algorithm.length * 2 else { return nil }
        var octets: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            octets.append(high << 4 | low)
        }
        self.algorithm = algorithm
        self.octets = octets
    }

    /// The digest of complete content.
    public init(of content: [UInt8], by algorithm: DigestAlgorithm) {
        let hasher = DigestHasher(algorithm)
        hasher.update(content.span)
        self = hasher.finish()
    }

    init(_ algorithm: DigestAlgorithm, made octets: [UInt8]) {
        self.algorithm = algorithm
        self.octets = octets
    }

    /// The digest as a member of a Repr-Digest or Content-Digest field: `sha-256=:…:`.
    public var description: String { "\(algorithm.rawValue)=:\(Base64.encode(octets)):" }
}

/// The value of a Repr-Digest or Content-Digest field (RFC 9530 §2, §3): digests by algorithm.
///
/// Content-Digest covers the content of this message, in its content coding. Repr-Digest covers the whole representation, of
/// which a message may carry a part or nothing.
public struct DigestField: Hashable, Sendable, CustomStringConvertible {
    /// The digests with known algorithms, in order.
    public let digests: [ContentDigest]
    /// The names of the unknown algorithms.
    public let others: [String]

    /// A field with these digests.
    public init(_ digests: [ContentDigest]) {
        self.digests = digests
        others = []
    }

    /// A field with the digests of complete content, by these algorithms.
    public init(of content: [UInt8], by algorithms: [DigestAlgorithm] = [.sha256]) {
        self.init(algorithms.map { ContentDigest(of: content, by: $0) })
    }

    /// Parses the value of each line of the field.
    /// - Returns: `nil` if the value is not a dictionary of byte sequences (RFC 9651 §3.2), or if a digest does not have its
    ///   algorithm's length. Such a field is ignored.
    public init?(parsing values: [String]) {
        var parser = StructuredFieldValueParser(Array(values.joined(separator: ", ").utf8))
        // The error only says that the field does not parse.
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        var digests: [ContentDigest] = []
        var others: [String] = []
        for (name, member) in members {
            guard case .item(let item) = member, case .undecodedByteSequence(let text) = item.rfc9651BareItem else { return nil }
            guard let algorithm = DigestAlgorithm(rawValue: name) else {
                others.append(name)
                continue
            }
            guard let octets = Base64.decode(text.utf8), let digest = ContentDigest(algorithm, octets: octets) else { return nil }
            digests.append(digest)
        }
        self.digests = digests
        self.others = others
    }

    /// The field value.
    public var description: String { digests.map(\.description).joined(separator: ", ") }

    /// The longest digest, which is the strongest one to check against.
    public var strongest: ContentDigest? { digests.max { $0.algorithm.length < $1.algorithm.length } }

    /// The result of checking content.
    public enum Verdict: Hashable, Sendable {
        case matches
        /// The content does not match this digest of the field.
        case differs(ContentDigest)
        /// All algorithms of the field are unknown.
        case unknown
    }

    /// Checks complete content against every digest with a known algorithm.
    public func verdict(on content: [UInt8]) -> Verdict {
        if digests.isEmpty { return .unknown }
        let other = digests.first { ContentDigest(of: content, by: $0.algorithm) != $0 }
        return other.map(Verdict.differs) ?? .matches
    }
}
