/// Makes values out of responses: validates the head, and decodes the content.
///
/// `serialize(_:_:)` does both by one rule: content of a type that is not accepted is not decoded; content under a status that is not accepted
/// is, since errors have bodies too.
public protocol ResponseSerializer<Output>: Sendable {
    /// What a response becomes.
    associatedtype Output: Sendable

    /// What the head has to say.
    var validation: ResponseValidation { get }

    /// - Parameters:
    ///   - body: the whole content, without its codings; may be empty.
    ///   - head: what came before the body.
    func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output
}

/// What a response came to: a value, faults, or both (an error's body with its status).
public struct SerializedResponse<Output: Sendable>: Sendable {
    /// What the content says, where it could be decoded.
    public let value: Output?
    /// From the outermost to the innermost; none for a response as it should be.
    public let faults: [ResponseFault]
    /// Of the response.
    public let status: Int

    /// - Throws: when there is any fault, also where there is a value.
    public func get() throws(ResponseSerializationError) -> Output {
        if let value, faults.isEmpty { return value }
        throw ResponseSerializationError(faults: faults, status: status)
    }
}

extension ResponseSerializer {
    /// Validates the head and decodes the content, as far as each can be.
    public func serialize(_ head: ReceivedHead, _ body: [UInt8]) -> SerializedResponse<Output> {
        let faults = validation.faults(of: head, hasBody: !body.isEmpty)
        if faults.contains(where: { $0.code == .unacceptableContentType }) {
            return SerializedResponse(value: nil, faults: faults, status: head.status)
        }
        do throws(ResponseFault) {
            return SerializedResponse(value: try decode(body, of: head), faults: faults, status: head.status)
        } catch {
            return SerializedResponse(value: nil, faults: [error] + faults, status: head.status)
        }
    }

    /// The same with the value made into another, such as a common one for `FirstOf`.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Output) -> Other) -> MappedSerializer<Self, Other> {
        MappedSerializer(base: self, transform: transform)
    }
}

/// A serializer whose values are made into others.
public struct MappedSerializer<Base: ResponseSerializer, Output: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Output) -> Output

    /// What the head has to say.
    public var validation: ResponseValidation { base.validation }

    /// The content as it is for the serializer within.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output {
        transform(try base.decode(body, of: head))
    }
}
