import HTTPMessage

/// The bytes of an XML text, and whether they are UTF-8 whatever the text says of itself.
///
/// A byte order mark goes before the type's charset, and that before what the text says (RFC 7303 §3).
struct XMLText {
    let octets: [UInt8]
    let isUTF8: Bool

    /// - Returns: `nil` where they are no text of the charset that the type names.
    init?(_ content: [UInt8], of head: ReceivedHead) {
        isUTF8 = Charset.ofMark(in: content) == nil && head.parameter("charset") != nil
        guard isUTF8 else {
            octets = content
            return
        }
        // Which byte it was is of no use here.
        guard let text = try? TextSerializer().decode(content, of: head) else { return nil }
        octets = Array(text.utf8)
    }
}
