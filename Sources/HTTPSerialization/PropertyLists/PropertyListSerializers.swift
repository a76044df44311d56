extension ResponseValidation {
    /// What property lists are sent as.
    public static let propertyList = ResponseValidation(contentTypes: ["application/x-plist"])
}

/// The content as a property list in either form, or `nil` without content.
public struct PropertyListSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    /// How much is read.
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

/// A property list as content (`application/x-plist`).
public struct PropertyListRequestSerializer: RequestSerializer {
    /// The form that is written.
    public var form: PropertyListValue.Form

    /// A serializer that writes in this form.
    public init(_ form: PropertyListValue.Form = .xml) { self.form = form }

    /// Without parameters there is neither type nor content.
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
