/// The first of several serializers that takes the response: one that accepts its type and can decode its content.
///
/// The order matters: a serializer that takes everything, such as `RawSerializer`, belongs at the end. Values of several types are brought to
/// one by `map`. The status is judged once, by `validation`.
public struct FirstOf<Output: Sendable>: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    private let serializers: [any ResponseSerializer<Output>]

    /// - Parameters:
    ///   - serializers: in the order in which they are asked; at least one.
    ///   - statuses: those of a response that is asked about at all.
    public init(_ serializers: [any ResponseSerializer<Output>], statuses: [ClosedRange<Int>] = [200...299]) {
        precondition(!serializers.isEmpty, "nobody would accept anything")
        self.serializers = serializers
        validation = ResponseValidation(statuses: statuses)
    }

    /// - Throws: `noneAccepts`, whose detail holds the faults of each in order.
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
