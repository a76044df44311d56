/// The content as text: by its byte order mark, else by the charset that its type names, else by `fallback`.
public struct TextSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    /// Where neither a mark nor a parameter says it.
    public var fallback: Charset
    /// Whether bytes that stand for nothing become U+FFFD. Otherwise they are a fault.
    public var replacesFaults: Bool

    /// A serializer for text that names no charset, or this one.
    public init(fallback: Charset = .utf8, replacesFaults: Bool = false, validation: ResponseValidation = ResponseValidation()) {
        self.fallback = fallback
        self.replacesFaults = replacesFaults
        self.validation = validation
    }

    /// - Throws: `malformedText`, also for a charset that is not on `Charset`'s list.
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
