import HTTPSerialization

extension FuzzTarget {
    /// A form whose names and contents are these bytes, cut at zeros: it is as long as it says, and whoever reads it by its boundary finds as many
    /// parts as there are, with these contents and fields and no others.
    package static let multipart = FuzzTarget("Multipart") { octets in
        let words = octets.split(separator: 0, maxSplits: 8, omittingEmptySubsequences: false).map(Array.init)
        guard var form = try? MultipartForm(boundary: "boundary-of-many-octets") else { return "a good boundary is refused" }
        var expected: [(fieldCount: Int, content: [UInt8])] = []
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            let name = String(decoding: words[place], as: UTF8.self)
            let content = words[place + 1]
            if content.first ?? 0 > 0x7F {
                form.append(name, String(decoding: content, as: UTF8.self))
                expected.append((1, Array(String(decoding: content, as: UTF8.self).utf8)))
            } else {
                let type = String(decoding: content.prefix(12), as: UTF8.self)
                let isGood = (try? form.append(name, octets: content, fileName: name, contentType: type)) != nil
                if !isGood { continue }
                expected.append((2, content))
            }
        }
        guard let written = try? form.octets(), UInt64(written.count) == form.length else { return "another length" }
        return disagreement(written, expected)
    }

    private static func disagreement(_ written: [UInt8], _ expected: [(fieldCount: Int, content: [UInt8])]) -> String? {
        if expected.isEmpty { return written.isEmpty ? nil : "octets of no parts" }
        var rest = written[...]
        for part in expected {
            guard rest.starts(with: Array("--boundary-of-many-octets\r\n".utf8)) else { return "no delimiter" }
            rest = rest.dropFirst(27)
            for _ in 0..<part.fieldCount {
                guard let end = rest.firstIndex(of: 0x0D), end > rest.startIndex, rest[end...].starts(with: [0x0D, 0x0A]) else {
                    return "no field"
                }
                if rest[..<end].contains(0x0A) { return "a field that ends early" }
                rest = rest[(end + 2)...]
            }
            guard rest.starts(with: [0x0D, 0x0A] + part.content + [0x0D, 0x0A]) else { return "another content, or more fields" }
            rest = rest.dropFirst(part.content.count + 4)
        }
        return rest.elementsEqual("--boundary-of-many-octets--\r\n".utf8) ? nil : "another end"
    }
}
