import HTTPMessage

/// A second implementation of RFC 8259, by recursive descent over a whole text, to compare the streaming checker with.
struct ReferenceJSON {
    private let text: [UInt8]
    private var index = 0

    /// - Returns: the offset of the first fault, or `nil` for valid JSON (and for the two empty forms).
    static func fault(in text: [UInt8]) -> Int? {
        if text.isEmpty || text == [0x20] { return nil }
        var reader = ReferenceJSON(text: text)
        do throws(Fault) {
            try reader.readText()
            return nil
        } catch {
            return error.offset
        }
    }

    private struct Fault: Error { let offset: Int }

    private init(text: [UInt8]) { self.text = text }

    private var here: UInt8? { index < text.count ? text[index] : nil }

    private mutating func readText() throws(Fault) {
        skipBlanks()
        try readValue()
        skipBlanks()
        if index < text.count { throw Fault(offset: index) }
    }

    private mutating func skipBlanks() {
        while let byte = here, [0x20, 0x0A, 0x0D, 0x09].contains(byte) { index += 1 }
    }

    private mutating func expect(_ accepts: (UInt8) -> Bool) throws(Fault) {
        guard let byte = here, accepts(byte) else { throw Fault(offset: index) }
        index += 1
    }

    private mutating func readValue() throws(Fault) {
        switch here {
        case UInt8(ascii: "{"): try readContainer(end: UInt8(ascii: "}"), named: true)
        case UInt8(ascii: "["): try readContainer(end: UInt8(ascii: "]"), named: false)
        case UInt8(ascii: "\""): try readString()
        case UInt8(ascii: "t"): try readWord("true")
        case UInt8(ascii: "f"): try readWord("false")
        case UInt8(ascii: "n"): try readWord("null")
        default: try readNumber()
        }
    }

    private mutating func readWord(_ word: String) throws(Fault) {
        for byte in word.utf8 { try expect { $0 == byte } }
    }

    private mutating func readContainer(end: UInt8, named: Bool) throws(Fault) {
        index += 1
        skipBlanks()
        if here == end {
            index += 1
            return
        }
        while true {
            if named {
                guard here == UInt8(ascii: "\"") else { throw Fault(offset: index) }
                try readString()
                skipBlanks()
                try expect { $0 == UInt8(ascii: ":") }
                skipBlanks()
            }
            try readValue()
            skipBlanks()
            if here == end {
                index += 1
                return
            }
            try expect { $0 == UInt8(ascii: ",") }
            skipBlanks()
        }
    }

    private mutating func readString() throws(Fault) {
        index += 1
        while true {
            guard let byte = here else { throw Fault(offset: index) }
            if byte == UInt8(ascii: "\"") {
                index += 1
                return
            }
            if byte < 0x20 { throw Fault(offset: index) }
            if byte == UInt8(ascii: "\\") {
                index += 1
                let escaped = here
                try expect { Array("\"\\/bfnrtu".utf8).contains($0) }
                if escaped == UInt8(ascii: "u") {
                    for _ in 0..<4 { try expect { ASCII.hexValue($0) != nil } }
                }
            } else {
                try readCharacter()
            }
        }
    }

    /// The well-formed sequences of RFC 3629 §4, row by row.
    private mutating func readCharacter() throws(Fault) {
        let tail = UInt8(0x80)...0xBF
        let rows: [[ClosedRange<UInt8>]] = [
            [0x00...0x7F], [0xC2...0xDF, tail], [0xE0...0xE0, 0xA0...0xBF, tail], [0xE1...0xEC, tail, tail],
            [0xED...0xED, 0x80...0x9F, tail], [0xEE...0xEF, tail, tail], [0xF0...0xF0, 0x90...0xBF, tail, tail],
            [0xF1...0xF3, tail, tail, tail], [0xF4...0xF4, 0x80...0x8F, tail, tail],
        ]
        guard let first = here, let row = rows.first(where: { $0[0].contains(first) }) else { throw Fault(offset: index) }
        for range in row { try expect { range.contains($0) } }
    }

    private mutating func readNumber() throws(Fault) {
        if here == UInt8(ascii: "-") { index += 1 }
        if here == UInt8(ascii: "0") { index += 1 } else { try readDigits() }
        if here == UInt8(ascii: ".") {
            index += 1
            try readDigits()
        }
        if here == UInt8(ascii: "e") || here == UInt8(ascii: "E") {
            index += 1
            if here == UInt8(ascii: "+") || here == UInt8(ascii: "-") { index += 1 }
            try readDigits()
        }
    }

    private mutating func readDigits() throws(Fault) {
        try expect(ASCII.isDigit)
        while let byte = here, ASCII.isDigit(byte) { index += 1 }
    }
}
