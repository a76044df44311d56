internal import HTTPMessage

/// The parts of a PEM text (RFC 7468): text between the parts is a comment, and the parts contain only base64.
package enum PEM {
    struct Part {
        let label: String
        let der: [UInt8]
    }

    private static let opening = Array("-----BEGIN ".utf8)
    private static let closing = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    /// One part (RFC 7468 §2), with a line end after it.
    package static func text(_ label: String, der: [UInt8]) -> String {
        var base64 = Base64.encode(der)[...]
        var text = "-----BEGIN \(label)-----\n"
        while !base64.isEmpty {
            text += base64.prefix(lineLength) + "\n"
            base64 = base64.dropFirst(lineLength)
        }
        return text + "-----END \(label)-----\n"
    }

    private static let lineLength = 64

    /// Whether the text has the beginning of a part, even if the part is damaged. If it has none, it may be DER.
    static func isPEM(_ text: [UInt8]) -> Bool {
        text.split { $0 == ASCII.lf || $0 == ASCII.cr }.contains { $0.starts(with: opening) }
    }

    /// - Returns: every part in order; `nil` if one is not closed, is not base64, or has header lines (as encrypted keys do).
    static func parts(of text: [UInt8]) -> [Part]? {
        var parts: [Part] = []
        var label: String?
        var base64: [UInt8] = []
        for line in text.split(whereSeparator: { $0 == ASCII.lf || $0 == ASCII.cr }) {
            let line = trimmed(line)
            if let current = label {
                if line.starts(with: closing) {
                    guard name(in: line, after: closing) == current, let der = Base64.decode(base64) else { return nil }
                    parts.append(Part(label: current, der: der))
                    label = nil
                } else {
                    base64.append(contentsOf: line)
                }
            } else if line.starts(with: opening) {
                guard let opened = name(in: line, after: opening) else { return nil }
                label = opened
                base64.removeAll(keepingCapacity: true)
            }
        }
        return label == nil ? parts : nil
    }

    private static func name(in line: ArraySlice<UInt8>, after prefix: [UInt8]) -> String? {
        let rest = line.dropFirst(prefix.count)
        guard rest.count > dashes.count, rest.suffix(dashes.count).elementsEqual(dashes) else { return nil }
        return String(decoding: rest.dropLast(dashes.count), as: UTF8.self)
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, ASCII.isBlank(last) { line = line.dropLast() }
        while let first = line.first, ASCII.isBlank(first) { line = line.dropFirst() }
        return line
    }
}
