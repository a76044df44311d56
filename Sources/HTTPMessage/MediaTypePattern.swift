/// A media type pattern of rules and serializers, such as `application/json`, `image/*`, `*/*+json`, `application/*+json` or `*/*`.
///
/// Media types are compared case-insensitively (RFC 9110 §8.3.1). `*/*+json` requires the structured syntax suffix of RFC 6839: it
/// matches `application/problem+json`, but not `application/json`.
package struct MediaTypePattern: Equatable, Sendable {
    private enum Subtype: Equatable, Sendable {
        case any
        case exactly([UInt8])
        /// The structured syntax suffix, with its leading plus sign.
        case suffix([UInt8])
    }

    /// The type in lower case; `nil` matches any type.
    private let type: [UInt8]?
    private let subtype: Subtype

    /// - Returns: `nil` if the text is not a valid pattern. A pattern has no parameters.
    package init?(_ text: String) {
        let parts = text.utf8.map(ASCII.lowercased).split(separator: ASCII.slash, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        guard let type = Self.type(parts[0]), let subtype = Self.subtype(parts[1]) else { return nil }
        if type == nil, case .exactly = subtype { return nil }
        self.type = type
        self.subtype = subtype
    }

    /// Whether the value of a Content-Type field has a media type that matches. An invalid value never matches.
    package func matches(_ value: Span<UInt8>) -> Bool {
        guard let found = MediaType(parsing: value) else { return false }
        if let type, !value.extracting(found.type.range).equalsIgnoringCase(type.span) { return false }
        let name = value.extracting(found.subtype.range)
        switch subtype {
        case .any: return true
        case .exactly(let expected): return name.equalsIgnoringCase(expected.span)
        case .suffix(let suffix):
            // There must be characters before the plus sign of the suffix.
            guard name.count > suffix.count else { return false }
            return name.extracting(name.count - suffix.count..<name.count).equalsIgnoringCase(suffix.span)
        }
    }

    private static let star: UInt8 = 0x2A
    private static let plus: UInt8 = 0x2B

    private static func type(_ text: ArraySlice<UInt8>) -> [UInt8]?? {
        if text.elementsEqual([star]) { return .some(nil) }
        return isToken(text) ? .some(Array(text)) : .none
    }

    private static func subtype(_ text: ArraySlice<UInt8>) -> Subtype? {
        if text.elementsEqual([star]) { return .any }
        if text.starts(with: [star, plus]) {
            let suffix = text.dropFirst()
            return suffix.count > 1 && isToken(suffix) ? .suffix(Array(suffix)) : nil
        }
        return isToken(text) ? .exactly(Array(text)) : nil
    }

    private static func isToken(_ text: ArraySlice<UInt8>) -> Bool {
        text.allSatisfy { ASCII.isTokenCharacter($0) && $0 != star }
    }
}

extension MediaTypePattern: CustomStringConvertible {
    package var description: String {
        let type = self.type.map { String(decoding: $0, as: UTF8.self) } ?? "*"
        switch subtype {
        case .any: return type + "/*"
        case .exactly(let name): return type + "/" + String(decoding: name, as: UTF8.self)
        case .suffix(let suffix): return type + "/*" + String(decoding: suffix, as: UTF8.self)
        }
    }
}
