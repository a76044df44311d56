import HTTPMessage

extension Array<UInt8> {
    /// Appends sixteen hexadecimal digits. Larder writes the id of a request in this form everywhere.
    package mutating func append(hexadecimal number: UInt64) {
        append(addingCapacity: 16) { $0.append(hexadecimal: number) }
    }

    package mutating func append(escapingForHTML text: String) {
        for byte in text.utf8 {
            switch byte {
            case 0x26: append("&amp;")
            case 0x3C: append("&lt;")
            case 0x3E: append("&gt;")
            case ASCII.quote: append("&quot;")
            case 0x27: append("&#39;")
            case 0..<0x20, 0x7F: append(ASCII.question)
            default: append(byte)
            }
        }
    }
}
