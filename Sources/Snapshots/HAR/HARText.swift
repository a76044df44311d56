import HTTPMessage
import HTTPSerialization

/// The original bytes of a text in a HAR file. HAR stores all text as Unicode, whatever its original charset. That is the charset that the
/// content type names; if it names none, it is UTF-8 or Latin-1. mitmproxy uses Latin-1 for binary data that it treats as
/// text. If these
/// disagree, the length decides.
struct HARText {
    let octets: [UInt8]
    /// Why the bytes may differ from the original, for users; `nil` if there is no sign of it.
    let change: String?

    /// - Parameters:
    ///   - contentType: the message's Content-Type; empty if it has none.
    ///   - length: the number of original bytes according to the file; `nil` if it gives none.
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
        // A server may declare a charset that its bytes do not use; the tool that wrote the file detected the right one.
        octets = isMeant(unicode) && !isMeant(named) ? unicode : named
        change = nil
    }
}
