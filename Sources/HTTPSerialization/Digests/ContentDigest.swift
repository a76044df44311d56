import HTTPMessage
import RawStructuredFieldValues

/// A way to make a digest that RFC 9530 §5 calls active. The others there are not safe, and count as not known here.
public enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"

    /// In bytes.
    public var length: Int { self == .sha256 ? 32 : 64 }
}

/// The digest of some bytes.
public struct ContentDigest: Hashable, Sendable, CustomStringConvertible {
    /// How it was made.
    public let algorithm: DigestAlgorithm
    /// As many as the algorithm makes.
    public let octets: [UInt8]

    /// - Returns: `nil` where the bytes are not as many as the algorithm makes.
    public init?(_ algorithm: DigestAlgorithm, octets: [UInt8]) {
        guard octets.count == algorithm.length else { return nil }
        self.algorithm = algorithm
        self.octets = octets
    }

    /// Reads `sha256:` or `sha-512:` with hexadecimal digits behind, as tools print it.
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

    /// Of a whole content.
    public init(of content: [UInt8], by algorithm: DigestAlgorithm) {
        let hasher = DigestHasher(algorithm)
        hasher.update(content.span)
        self = hasher.finish()
    }

    init(_ algorithm: DigestAlgorithm, made octets: [UInt8]) {
        self.algorithm = algorithm
        self.octets = octets
    }

    /// As a member of the fields: `sha-256=:…:`.
    public var description: String { "\(algorithm.rawValue)=:\(Base64.encode(octets)):" }
}

/// The value of a Repr-Digest or Content-Digest field (RFC 9530 §2, §3): digests by their algorithms.
///
/// Content-Digest is of the bytes in this message, behind their content coding; Repr-Digest of the whole representation, of which a message may
/// hold a part or nothing.
public struct DigestField: Hashable, Sendable, CustomStringConvertible {
    /// Those whose algorithms are known, in order.
    public let digests: [ContentDigest]
    /// The algorithms that are not known here, as they are named.
    public let others: [String]

    /// A field of these digests.
    public init(_ digests: [ContentDigest]) {
        self.digests = digests
        others = []
    }

    /// Of a whole content, by these algorithms.
    public init(of content: [UInt8], by algorithms: [DigestAlgorithm] = [.sha256]) {
        self.init(algorithms.map { ContentDigest(of: content, by: $0) })
    }

    /// Reads the value of each line of the field.
    /// - Returns: `nil` for what is no dictionary of bytes (RFC 9651 §3.2), and for a digest that is not as long as its algorithm makes
    ///   it: such a field says nothing.
    public init?(parsing values: [String]) {
        var parser = StructuredFieldValueParser(Array(values.joined(separator: ", ").utf8))
        // What is thrown tells only that the field does not parse.
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

    /// As it stands behind the name of the field.
    public var description: String { digests.map(\.description).joined(separator: ", ") }

    /// The one to check by: the longest.
    public var strongest: ContentDigest? { digests.max { $0.algorithm.length < $1.algorithm.length } }

    /// What checking a content comes to.
    public enum Verdict: Hashable, Sendable {
        case matches
        /// With the digest that the field gives and the content does not have.
        case differs(ContentDigest)
        /// No algorithm of the field's is known.
        case unknown
    }

    /// Checks a whole content by every digest whose algorithm is known.
    public func verdict(on content: [UInt8]) -> Verdict {
        if digests.isEmpty { return .unknown }
        let other = digests.first { ContentDigest(of: content, by: $0.algorithm) != $0 }
        return other.map(Verdict.differs) ?? .matches
    }
}
