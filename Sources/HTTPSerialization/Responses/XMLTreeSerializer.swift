extension ResponseValidation {
    /// What XML is sent as (RFC 7303).
    public static let xml = ResponseValidation(contentTypes: ["application/xml", "text/xml", "*/*+xml"])
}

/// The content as a tree of XML, or `nil` without content.
///
/// A byte order mark goes before the type's charset, and that before what the text says of itself (RFC 7303 §3).
public struct XMLTreeSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    /// How much is read.
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
