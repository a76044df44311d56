/// A response as received by a client, without its framing.
package struct ReceivedResponse: Sendable {
    package let statusLine: String
    package let lines: [(name: String, value: String)]
    package internal(set) var body: [UInt8] = []
    package internal(set) var trailers: [(name: String, value: String)] = []
    /// The heads with a 1xx status before it.
    package internal(set) var informational: [ReceivedResponse] = []

    package var status: Int { Int(statusLine.split(separator: " ").dropFirst().first ?? "") ?? 0 }
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of all lines with this name.
    package func values(_ name: String) -> [String] {
        lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The value of the line with this name; several are joined by commas.
    package subscript(name: String) -> String? {
        let values = values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    init(lines: [String]) throws {
        statusLine = lines.first ?? ""
        guard statusLine.hasPrefix("HTTP/1.1 ") else { throw ClientFault(reason: .malformed, received: statusLine) }
        self.lines = try lines.dropFirst().map(Self.field)
    }

    static func field(_ line: String) throws -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
            throw ClientFault(reason: .malformed, received: line)
        }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        return (String(line[..<colon]), String(value))
    }
}

/// How a response's content is delimited (RFC 9112 §6.3).
package enum ReceivedFraming: Equatable, Sendable { case none, length(Int), chunked, untilClose }

extension RawClient {
    /// Reads a head, up to and including the empty line.
    package func readHead() throws -> ReceivedResponse {
        var lines: [String] = []
        while true {
            let line = try readLine()
            if line.isEmpty { return try ReceivedResponse(lines: lines) }
            lines.append(line)
        }
    }

    /// Reads a whole response, and the 1xx responses before it. Throws if it ends early.
    package func readResponse(to method: String = "GET") throws -> ReceivedResponse {
        var informational: [ReceivedResponse] = []
        var response = try readHead()
        while response.status < 200, response.status != 101 {
            informational.append(response)
            response = try readHead()
        }
        response.informational = informational
        switch response.framing(to: method) {
        case .none: break
        case .length(let length): response.body = try read(count: length)
        case .chunked: try readChunks(into: &response)
        case .untilClose: response.body = try readToEnd()
        }
        return response
    }

    /// Reads the content of the next chunk; empty for the last one, whose trailers are still to be read.
    package func readChunk() throws -> [UInt8] {
        let size = try readLine()
        guard let count = Int(size, radix: 16) else { throw ClientFault(reason: .malformed, received: size) }
        if count == 0 { return [] }
        let chunk = try read(count: count)
        guard try read(count: 2) == [13, 10] else { throw ClientFault(reason: .malformed, received: "chunk without end") }
        return chunk
    }

    private func readChunks(into response: inout ReceivedResponse) throws {
        while true {
            let chunk = try readChunk()
            if chunk.isEmpty { break }
            response.body += chunk
        }
        while true {
            let line = try readLine()
            if line.isEmpty { return }
            response.trailers.append(try ReceivedResponse.field(line))
        }
    }
}

extension ReceivedResponse {
    package func framing(to method: String) -> ReceivedFraming {
        if method == "HEAD" || status == 204 || status == 304 || (method == "CONNECT" && status == 200) { return .none }
        if self["Transfer-Encoding"] == "chunked" { return .chunked }
        if let length = self["Content-Length"].flatMap({ Int($0) }) { return .length(length) }
        return .untilClose
    }
}
