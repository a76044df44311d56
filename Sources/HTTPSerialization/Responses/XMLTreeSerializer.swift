extension ResponseValidation {
    /// The media types of XML (RFC 7303).
    public static let xml = ResponseValidation(contentTypes: ["application/xml", "text/xml", "*/*+xml"])
}

/// Decodes content as an XML tree; the value is `nil` if there is no content.
///
/// A byte order mark has precedence over the charset of the media type. That charset has precedence over the encoding declared in the
/// text (RFC 7303 §3).
public struct XMLTreeSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// Limits for parsing.
    public var limits: XMLLimits

    /// A serializer within these limits, for these statuses and types.
    public init(limits: XMLLimits = XMLLimits(), validation: ResponseValidation = .xml) {
        self.limits = limits
        self.validation = validation
    }

    /// - Throws: `malformedXML`, `malformedText`, `tooLarge`.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> XMLTree? {
        if body.isEmpty { return nil }
        var text = body
        let isDecoded = Charset.ofMark(in: body) == nil && head.parameter("charset") != nil
        if isDecoded { text = Array(try TextSerializer().decode(body, of: head).utf8) }
        do throws(XMLFault) {
            return try XMLTree(parsing: text, limits: limits, isUTF8: isDecoded)
        } catch {
            let isTooLarge = error.reason == .tooLarge || error.reason == .tooDeep
            throw ResponseFault(isTooLarge ? .tooLarge : .malformedXML, error.description)
        }
    }
}
