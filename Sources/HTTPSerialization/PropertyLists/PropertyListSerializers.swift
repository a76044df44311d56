extension ResponseValidation {
    /// The media type of property lists.
    public static let propertyList = ResponseValidation(contentTypes: ["application/x-plist"])
}

/// Decodes content as a property list in the XML or binary form; the value is `nil` if there is no content.
public struct PropertyListSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// Limits for parsing.
    public var limits: PropertyListLimits

    /// A serializer within these limits, for these statuses and types.
    public init(limits: PropertyListLimits = PropertyListLimits(), validation: ResponseValidation = .propertyList) {
        self.limits = limits
        self.validation = validation
    }

    /// - Throws: `malformedPropertyList`, `tooLarge`.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> PropertyListValue? {
        if body.isEmpty { return nil }
        do throws(PropertyListFault) {
            return try PropertyListValue(parsing: body, limits: limits)
        } catch {
            let isTooLarge = error.reason == .tooLarge || error.reason == .tooDeep
            throw ResponseFault(isTooLarge ? .tooLarge : .malformedPropertyList, error.description, at: error.offset)
        }
    }
}

/// Encodes parameters as a property list (`application/x-plist`).
public struct PropertyListRequestSerializer: RequestSerializer {
    /// The form to write.
    public var form: PropertyListValue.Form

    /// A serializer for this form.
    public init(_ form: PropertyListValue.Form = .xml) { self.form = form }

    /// Without parameters the request has no content and no Content-Type.
    /// - Throws: `inexpressible`.
    public func serialize(
        _ parameters: PropertyListValue?, method: String, target: String
    ) throws(RequestSerializationError) -> SerializedRequest {
        guard let parameters else { return SerializedRequest(target: target) }
        do throws(PropertyListFault) {
            return SerializedRequest(
                target: target, contentType: "application/x-plist", content: .octets(try parameters.octets(form)))
        } catch {
            throw RequestSerializationError(.inexpressible, error.detail)
        }
    }
}
