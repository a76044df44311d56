/// Decodes content as text: by its byte order mark, else by the charset of its type, else by `fallback`.
public struct TextSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// The charset of content that has neither a byte order mark nor a charset parameter.
    public var fallback: Charset
    /// Whether invalid bytes become U+FFFD. If not, they are a fault.
    public var replacesFaults: Bool

    /// A serializer. Text without a declared charset is decoded as `fallback`.
    public init(fallback: Charset = .utf8, replacesFaults: Bool = false, validation: ResponseValidation = ResponseValidation()) {
        self.fallback = fallback
        self.replacesFaults = replacesFaults
        self.validation = validation
    }

    /// - Throws: `malformedText`, also for a charset that is not in `Charset`'s list.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> String {
        let charset = try charset(of: body, head)
        do throws(TextFault) {
            return try charset.text(of: body, replacesFaults: replacesFaults)
        } catch {
            throw ResponseFault(.malformedText, "invalid \(charset) at offset \(error.offset)", at: error.offset)
        }
    }

    private func charset(of body: [UInt8], _ head: ReceivedHead) throws(ResponseFault) -> Charset {
        if let marked = Charset.ofMark(in: body) { return marked }
        guard let label = head.parameter("charset") else { return fallback }
        guard let charset = Charset(label) else { throw ResponseFault(.malformedText, "the charset \(label) is not supported") }
        return charset
    }
}
