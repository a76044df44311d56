/// Uses the first of several serializers that accepts the response's type and can decode its content.
///
/// The order matters: a serializer that accepts everything, such as `RawSerializer`, belongs at the end. Use `map` to bring the
/// outputs to one type. The status is checked once, by `validation`.
public struct FirstOf<Output: Sendable>: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    private let serializers: [any ResponseSerializer<Output>]

    /// - Parameters:
    ///   - serializers: the serializers, in the order in which they are tried; at least one.
    ///   - statuses: the accepted statuses of the response.
    public init(_ serializers: [any ResponseSerializer<Output>], statuses: [ClosedRange<Int>] = [200...299]) {
        precondition(!serializers.isEmpty, "nobody would accept anything")
        self.serializers = serializers
        validation = ResponseValidation(statuses: statuses)
    }

    /// - Throws: `noneAccepts`, whose detail lists the fault of each serializer, in order.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output {
        var reasons: [String] = []
        for serializer in serializers {
            do throws(ResponseFault) {
                return try Self.attempt(serializer, body, head)
            } catch {
                reasons.append("\(error.code.rawValue) (\(error.detail))")
            }
        }
        throw ResponseFault(.noneAccepts, reasons.joined(separator: "; "))
    }

    private static func attempt(
        _ serializer: any ResponseSerializer<Output>, _ body: [UInt8], _ head: ReceivedHead
    ) throws(ResponseFault) -> Output {
        var validation = serializer.validation
        validation.statuses = []
        if let fault = validation.faults(of: head, hasBody: !body.isEmpty).first { throw fault }
        return try serializer.decode(body, of: head)
    }
}
