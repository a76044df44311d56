/// Makes values from responses: validates the head, and decodes the content.
///
/// `serialize(_:_:)` does both. Content of an unacceptable type is not decoded. Content with an unacceptable status is decoded, since
/// error responses have content too.
public protocol ResponseSerializer<Output>: Sendable {
    /// The type of the values.
    associatedtype Output: Sendable

    /// The accepted statuses and types.
    var validation: ResponseValidation { get }

    /// - Parameters:
    ///   - body: the whole content, without its codings; may be empty.
    ///   - head: the head of the response.
    func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output
}

/// The result for a response: a value, faults, or both (the body of an error response, with its status).
public struct SerializedResponse<Output: Sendable>: Sendable {
    /// The decoded content, if it could be decoded.
    public let value: Output?
    /// The faults, from the outermost to the innermost; empty for a valid response.
    public let faults: [ResponseFault]
    /// The status of the response.
    public let status: Int

    /// - Throws: an error if there is any fault, even if there is a value.
    public func get() throws(ResponseSerializationError) -> Output {
        if let value, faults.isEmpty { return value }
        throw ResponseSerializationError(faults: faults, status: status)
    }
}

extension ResponseSerializer {
    /// Validates the head, and decodes the content unless its type is unacceptable.
    public func serialize(_ head: ReceivedHead, _ body: [UInt8]) -> SerializedResponse<Output> {
        let faults = validation.faults(of: head, hasBody: !body.isEmpty)
        if faults.contains(where: { $0.code == .unacceptableContentType }) {
            return SerializedResponse(value: nil, faults: faults, status: head.status)
        }
        do throws(ResponseFault) {
            return SerializedResponse(value: try decode(body, of: head), faults: faults, status: head.status)
        } catch {
            // The body of an error response is seldom of the requested type, so the status is then the outer fault.
            let isMisfit = error.code == .otherType
            return SerializedResponse(value: nil, faults: isMisfit ? faults + [error] : [error] + faults, status: head.status)
        }
    }

    /// A serializer that transforms the value, for example to a common type for `FirstOf`.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Output) -> Other) -> MappedSerializer<Self, Other> {
        MappedSerializer(base: self, transform: transform)
    }
}

/// A serializer whose values are transformed.
public struct MappedSerializer<Base: ResponseSerializer, Output: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Output) -> Output

    /// The accepted statuses and types.
    public var validation: ResponseValidation { base.validation }

    /// Decodes with the base serializer, and transforms the value.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output {
        transform(try base.decode(body, of: head))
    }
}
