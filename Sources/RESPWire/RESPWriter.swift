/// Writes commands: a command is an array of bulk strings.
package enum RESPWriter {
    package static func append(_ words: [RESPWord], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "*"))
        append(words.count, to: &output)
        for word in words {
            output.append(UInt8(ascii: "$"))
            append(word.octets.count, to: &output)
            output.append(contentsOf: word.octets)
            output.append(0x0D)
            output.append(0x0A)
        }
    }

    private static func append(_ number: Int, to output: inout [UInt8]) {
        output.append(contentsOf: "\(number)\r\n".utf8)
    }
}

/// A word of a command: its name or an argument.
package struct RESPWord: Equatable, Sendable, ExpressibleByStringLiteral {
    package let octets: [UInt8]

    package init(_ octets: [UInt8]) { self.octets = octets }
    package init(_ text: String) { octets = Array(text.utf8) }
    package init<Number: BinaryInteger>(_ number: Number) { octets = Array("\(number)".utf8) }
    package init(stringLiteral text: String) { octets = Array(text.utf8) }
}
