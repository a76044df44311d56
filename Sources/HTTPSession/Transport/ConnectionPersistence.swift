import HTTPMessage
import HTTPWire

extension ResponseHead {
    /// Whether the connection may carry another exchange after this response (RFC 9112 §9.3).
    var allowsReuse: Bool {
        var saysClose = false
        var saysKeepAlive = false
        var index = fields.index(of: .connection)
        while let place = index {
            let value = fields.value(of: fields.lines[place])
            var start = 0
            for end in 0...value.count where end == value.count || value[end] == ASCII.comma {
                let option = value.extracting(value.trimmedBounds(in: start..<end))
                if option.equalsIgnoringCase("close") { saysClose = true }
                if option.equalsIgnoringCase("keep-alive") { saysKeepAlive = true }
                start = end + 1
            }
            index = fields.index(of: .connection, from: place + 1)
        }
        return !saysClose && (version.isAtLeast11 || saysKeepAlive)
    }
}
