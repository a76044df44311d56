extension ResponseValidation {
    /// What forms are sent as.
    public static let form = ResponseValidation(contentTypes: ["application/x-www-form-urlencoded"])
}

/// The content as the parameters of a form, as old token endpoints send them.
public struct FormSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    /// How the form is read.
    public var parser: FormParser

    /// A serializer that reads so.
    public init(_ parser: FormParser = FormParser(), validation: ResponseValidation = .form) {
        self.parser = parser
        self.validation = validation
    }

    /// No content is no parameters.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> JSONObject {
        do throws(FormParser.Fault) { return try parser.parse(body) } catch { throw ResponseFault(.tooLarge, error.rawValue) }
    }
}
