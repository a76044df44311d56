import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The head of transformed content (RFC 9110 §7.7, V15).
///
/// Fields that describe the original bytes no longer apply: coding, length, digests, entity tag. Last-Modified is removed too, because it
/// would not change with the rule. Vary stays, because the selection of the response still depends on it.
enum TransformedHead {
    /// - Parameter digest: the digest of the transformed content; `nil` if it is not known.
    static func make(of head: ResponseHead, by plan: TransformPlan, from source: TransformPlan.Source, digest: [UInt8]?)
        -> ResponseHead
    {
        var made = head
        made.fields.remove { fields, line in
            switch line.known {
            case .contentEncoding, .contentLength, .contentRange, .contentType, .etag, .lastModified: true
            case .other: leftOut.contains { fields.name(of: line).equalsIgnoringCase($0) }
            default: false
            }
        }
        let type = contentType(of: head.fields, by: plan, from: source)
        made.fields.append("Content-Type", type.span)
        if let tag = entityTag(of: head.fields, by: plan, digest: digest) { made.fields.append("ETag", tag.span) }
        made.fields.append("Accept-Ranges", "bytes")
        return made
    }

    /// Fields that are left out: the digest fields of RFC 9530 §2 and §3, the older digest fields of RFC 3230 and RFC 1864, and
    /// Accept-Ranges.
    private static let leftOut: [StaticString] = ["content-digest", "repr-digest", "digest", "content-md5", "accept-ranges"]

    // MARK: Entity tags

    /// The origin server's entity tag with the rule's fingerprint added, strong or weak as before: equal input gives equal output. If the
    /// origin server gave no tag, the tag is strong and made from the digest of the transformed content.
    private static func entityTag(of fields: Fields, by plan: TransformPlan, digest: [UInt8]?) -> [UInt8]? {
        var tag: [UInt8] = []
        if let line = fields.entityTagLine, let found = EntityTag(fields.value(of: line)) {
            tag.append(fields.value(of: line).extracting(0..<found.opaqueTag.upperBound - 1))
        } else if let digest {
            tag.append(ASCII.quote)
            tag.append(digest.span)
        } else {
            return nil
        }
        tag.append("-larder-")
        tag.append(hexadecimal: plan.fingerprint)
        tag.append(ASCII.quote)
        return tag
    }

    // MARK: Content types

    private static func contentType(of fields: Fields, by plan: TransformPlan, from source: TransformPlan.Source) -> [UInt8] {
        var type: [UInt8] = []
        switch source {
        case .xml, .propertyList: type.append("application/json")
        case .json: if let line = fields.first(.contentType) { type.append(fields.value(of: line)) }
        case .text:
            guard let line = fields.first(.contentType), let charset = plan.words.charset?.to else { return [] }
            appendParameters(of: fields.value(of: line), without: "charset", to: &type)
            type.append("; charset=")
            type.append(contentsOf: charset.text.utf8.map(ASCII.lowercased))
        }
        return type
    }

    /// Appends a media type with its parameters, except the parameter with this name (RFC 9110 §5.6.6).
    private static func appendParameters(of type: Span<UInt8>, without name: StaticString, to output: inout [UInt8]) {
        var start = 0
        var isQuoted = false
        var index = 0
        func append(_ range: Range<Int>, _ output: inout [UInt8]) {
            let part = type.extracting(type.trimmedBounds(in: range))
            let length = name.utf8CodeUnitCount
            let isNamed =
                part.count > length && part[length] == ASCII.equals && part.extracting(0..<length).equalsIgnoringCase(name)
            if part.isEmpty || isNamed { return }
            if range.lowerBound > 0 { output.append("; ") }
            output.append(part)
        }
        while index < type.count {
            switch type[index] {
            case ASCII.backslash where isQuoted: index += 1
            case ASCII.quote: isQuoted.toggle()
            case ASCII.semicolon where !isQuoted:
                append(start..<index, &output)
                start = index + 1
            default: break
            }
            index += 1
        }
        if start < type.count { append(start..<type.count, &output) }
    }
}
