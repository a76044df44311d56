import HTTPMessage
import HTTPSerialization

/// The bytes for which a text of a HAR file stands. HAR has every text in Unicode, whatever charset it came in: that which the type names, and where it
/// names none UTF-8, or Latin-1 as mitmproxy reads bytes that it takes for text. Where they disagree the length tells which was meant.
struct HARText {
    let octets: [UInt8]
    /// Why they are not those that came, for people; `nil` where nothing is known of that.
    let change: String?

    /// - Parameters:
    ///   - contentType: of the message; empty where it declares none.
    ///   - length: how many bytes came, as the file has it; `nil` where it does not say.
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
            change = "its charset \(label) is not supported, so its text is stored as UTF-8"
            return
        }
        // Browsers read Latin-1 as Windows-1252, which has letters in the place of controls.
        let wider = charset == .latin1 ? Charset("windows-1252") : nil
        guard let named = charset.octets(of: text) ?? wider?.octets(of: text) else {
            octets = unicode
            change = isMeant(unicode) ? nil : "\(charset) lacks characters of its text, which is stored as UTF-8"
            return
        }
        // A server may name another charset than its bytes are in; whoever looked at them knew better.
        octets = isMeant(unicode) && !isMeant(named) ? unicode : named
        change = nil
    }
}
