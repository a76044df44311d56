/// A request as an origin received it.
package struct OriginRequest: Sendable {
    package let head: String
    package let method: String
    package let target: String
    /// The name and value of each field line, in order.
    package let lines: [(name: String, value: String)]

    package init(head: String) {
        self.head = head
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
        let parts = (lines.first ?? "").split(separator: " ")
        method = parts.first.map(String.init) ?? ""
        target = parts.count > 1 ? String(parts[1]) : ""
        self.lines = lines.dropFirst().map { line in
            let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(pair[0]), pair.count > 1 ? String(pair[1].drop { $0 == " " }) : "")
        }
    }

    package func values(_ name: String) -> [String] {
        lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    package subscript(name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

extension OriginConnection {
    /// The request's content, without its framing; `nil` if the peer closes first.
    package func readBody(of request: OriginRequest) -> [UInt8]? {
        if request["Transfer-Encoding"] != nil { return readChunks()?.body }
        guard let length = request["Content-Length"].flatMap({ Int($0) }) else { return [] }
        return read(count: length)
    }

    /// Chunked content and the lines of its trailer section.
    package func readChunks() -> (body: [UInt8], trailers: [String])? {
        var body: [UInt8] = []
        while let line = readLine(), let count = Int(line, radix: 16) {
            if count == 0 {
                var trailers: [String] = []
                while let trailer = readLine() {
                    if trailer.isEmpty { return (body, trailers) }
                    trailers.append(trailer)
                }
                return nil
            }
            guard let chunk = read(count: count), read(count: 2) == [13, 10] else { return nil }
            body += chunk
        }
        return nil
    }

    private func readLine() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(2).elementsEqual([13, 10]) {
            guard let byte = read(count: 1) else { return nil }
            bytes += byte
        }
        return String(decoding: bytes.dropLast(2), as: UTF8.self)
    }
}

extension ScriptedOrigin {
    /// An origin with persistent connections: `answer` is called for each request, and returns whether the connection continues.
    package static func answering(
        isReachable: Bool = false, port: UInt16 = 0,
        _ answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool
    ) -> ScriptedOrigin {
        ScriptedOrigin(isReachable: isReachable, port: port) { connection in
            while let head = connection.readHead() {
                if !answer(OriginRequest(head: head), connection) { return }
            }
        }
    }
}
