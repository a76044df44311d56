import HTTPCaching
import HTTPMessage
import HTTPSerialization
import SecretScanning

/// Converts a request body to its canonical form: without content codings, and without the parts that the match rules ignore.
///
/// A body that does not parse as its media type stays unchanged, and is compared byte by byte.
struct CanonicalBody {
    private(set) var text: [UInt8]
    private let mediaType: MediaKind
    private let secretPointers: [JSONPointer]

    init(_ octets: [UInt8], describedBy fields: Fields, _ terms: MatchTerms) {
        mediaType = MediaKind(of: fields)
        secretPointers = terms.secrets.pointers
        text = DecodedBody.decoded(octets, describedBy: fields) ?? octets
        if case .multipart(let boundary) = mediaType { text = Self.withoutBoundary(text, boundary) }
    }

    mutating func apply(_ rules: [CanonicalRule]) {
        if mediaType == .json { removeValues(rules.flatMap { $0.canonicaliser.ignoredPointers }) }
        for rule in rules where rule.changesBodies {
            if mediaType == .form, !rule.formNames.isEmpty { removeFields(rule) }
            text = rule.canonicalText(text, .body)
        }
    }

    func secrets(_ finder: SecretFinder) -> [FoundSecret] {
        // The boundary has already been replaced by the canonical mark.
        if case .multipart = mediaType { return finder.secrets(inBody: text, .multipart(Self.boundaryMark)) }
        return finder.secrets(inBody: text, mediaType)
    }

    private static let boundaryMark = Array("{boundary}".utf8)

    /// Removes ignored values, and replaces declared secrets by the canonical mark. Then writes the JSON text without white space.
    private mutating func removeValues(_ ignored: [JSONPointer]) {
        guard !ignored.isEmpty || !secretPointers.isEmpty else { return }
        // A body that is not JSON is compared unchanged.
        guard var value = try? JSONValue(parsing: text, options: JSONParseOptions(lengthLimit: SnapshotLimits.requestBodyLength))
        else { return }
        for pointer in ignored { _ = value.remove(at: pointer) }
        for pointer in secretPointers where value[pointer] != nil {
            _ = value.set(.string(String(decoding: SecretMark.canonical, as: UTF8.self)), at: pointer)
        }
        text = value.text()
    }

    private mutating func removeFields(_ rule: CanonicalRule) {
        let kept = text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).filter { field in
            let name = field.prefix { $0 != ASCII.equals }
            return !rule.formNames.contains { $0.isPrefix ? name.starts(with: $0.name) : name.elementsEqual($0.name) }
        }
        text = Array(kept.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Clients choose a new boundary (RFC 2046 §5.1.1) for each request.
    private static func withoutBoundary(_ text: [UInt8], _ boundary: [UInt8]) -> [UInt8] {
        let delimiter = Array("--".utf8) + boundary
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        text.withUnsafeBufferPointer { octets in
            var place = 0
            while place < octets.count {
                if octets[place] == delimiter[0], octets.holds(delimiter, at: place) {
                    result += Array("--".utf8) + boundaryMark
                    place += delimiter.count
                } else {
                    result.append(octets[place])
                    place += 1
                }
            }
        }
        return result
    }
}
