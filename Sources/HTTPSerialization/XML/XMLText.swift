import HTTPMessage

/// The bytes of an XML text, and whether they are UTF-8 even if the text declares another encoding.
///
/// A byte order mark has precedence over the charset of the media type. That charset has precedence over the encoding declared in the
/// text (RFC 7303 §3).
struct XMLText {
    let octets: [UInt8]
    let isUTF8: Bool

    /// - Returns: `nil` if the bytes are invalid in the charset of the media type.
    init?(_ content: [UInt8], of head: ReceivedHead) {
        isUTF8 = Charset.ofMark(in: content) == nil && head.parameter("charset") != nil
        guard isUTF8 else {
            octets = content
            return
        }
        // The position of the invalid byte is not needed.
        guard let text = try? TextSerializer().decode(content, of: head) else { return nil }
        octets = Array(text.utf8)
    }
}
