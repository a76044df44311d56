extension ResponseValidation {
    /// The media type of forms.
    public static let form = ResponseValidation(contentTypes: ["application/x-www-form-urlencoded"])
}

/// Decodes content as the parameters of a form, as old token endpoints send them.
public struct FormSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// The parser for the form.
    public var parser: FormParser

    /// A serializer with this parser.
    public init(_ parser: FormParser = FormParser(), validation: ResponseValidation = .form) {
        self.parser = parser
        self.validation = validation
    }

    /// Empty content yields no parameters.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> JSONObject {
        do throws(FormParser.Fault) { return try parser.parse(body) } catch { throw ResponseFault(.tooLarge, error.rawValue) }
    }
}
