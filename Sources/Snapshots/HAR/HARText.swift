import HTTPMessage
import HTTPSerialization

/// The original bytes of a text in a HAR file. HAR stores all text as Unicode, whatever its original charset. The content type may name
/// the original charset. If it does not, the charset is UTF-8 or Latin-1; mitmproxy uses Latin-1 for binary data that it treats as
/// text. If several charsets are possible, Larder takes the one that gives the original length.
struct HARText {
    let octets: [UInt8]
    /// A message for users that says why the bytes may differ from the original bytes; `nil` if nothing indicates a difference.
    let change: String?

    /// - Parameters:
    ///   - contentType: the message's Content-Type; empty if the message has none.
    ///   - length: the number of original bytes according to the file; `nil` if the file gives no length.
    init(_ text: String, contentType: String, length: Int?) {
        let unicode = Array(text.utf8)
        func isMeant(_ octets: [UInt8]) -> Bool { octets.count == length }
        guard let label = MediaTypeParameters.value(of: "charset", in: Array(contentType.utf8).span) else {
            let latin = isMeant(unicode) ? nil : Charset.latin1.octets(of: text)
            octets = latin.map { isMeant($0) ? $0 : unicode } ?? unicode
            change = nil
            return
        }
        guard let charset = Charset(label) else {
            octets = unicode
            change = "the charset \(label) is not supported, so the text is stored as UTF-8"
            return
        }
        // Browsers read Latin-1 as Windows-1252, which has letters where Latin-1 has control characters.
        let wider = charset == .latin1 ? Charset("windows-1252") : nil
        guard let named = charset.octets(of: text) ?? wider?.octets(of: text) else {
            octets = unicode
            change = isMeant(unicode) ? nil : "\(charset) lacks some characters of the text, so the text is stored as UTF-8"
            return
        }
        // A server may declare a charset that its bytes do not use. In that case, the tool that wrote the file detected the right
        // charset.
        octets = isMeant(unicode) && !isMeant(named) ? unicode : named
        change = nil
    }
}
