/// The content as it came.
public struct RawSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation

    /// A serializer for these statuses and types.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// The content as it is for the serializer within.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> [UInt8] { body }
}
