/// The content as it came.
public struct RawSerializer: ResponseSerializer {
    public var validation: ResponseValidation

    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> [UInt8] { body }
}
