/// Returns the content unchanged.
public struct RawSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation

    /// A serializer for these statuses and types.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// The content unchanged.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> [UInt8] { body }
}
