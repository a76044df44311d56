import HTTPMessage
import HTTPWire
import Testing

@testable import ProxyCore

/// A head that the exchange has written for its client, parsed strictly, and the bytes after it.
struct WrittenHead {
    let head: ResponseHead
    let framing: BodyFraming
    /// The field lines as written: the parser corrects some faults that are checked here.
    let lines: [(name: String, value: String)]
    let body: [UInt8]

    var status: UInt16 { head.status.code }

    /// The values of this field, joined by commas; `nil` if there are none.
    subscript(_ name: String) -> String? {
        let values = lines.filter { $0.name == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The parameters of Larder's member of Cache-Status: each value, or an empty text for those without one.
    var cacheStatus: [String: String] {
        guard let last = lines.last(where: { $0.name == "cache-status" }) else { return [:] }
        var parameters: [String: String] = [:]
        for part in last.value.split(separator: ";").dropFirst() {
            let pair = part.drop(while: { $0 == " " }).split(separator: "=", maxSplits: 1)
            parameters[String(pair[0])] = pair.count == 2 ? String(pair[1]) : ""
        }
        return parameters
    }

    init(_ bytes: [UInt8], method: HTTPMessage.Method) throws {
        var head = ResponseHead()
        var parser = ResponseParser()
        guard let end = try parser.parse(bytes.span.bytes, into: &head) else { throw Messages.Incomplete() }
        self.head = head
        framing = try BodyFraming.ofResponse(head, to: method)
        body = Array(bytes[end...])
        let text = String(decoding: bytes[..<(end - 4)], as: UTF8.self)
        lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).dropFirst().map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (line[..<colon].lowercased(), String(line[colon...].dropFirst().drop(while: { $0 == " " })))
        }
    }

    func count(_ name: String) -> Int { lines.filter { $0.name == name }.count }

    /// Faults of the head that are independent of the exchange; empty if there are none.
    func faults(in exchange: borrowing Exchange) -> [String] {
        framingFaults(in: exchange) + fieldFaults(in: exchange)
    }

    private func framingFaults(in exchange: borrowing Exchange) -> [String] {
        var faults: [String] = []
        let delivery = exchange.delivery
        if count("content-length") > 1 { faults.append("several Content-Length") }
        if count("content-length") > 0, count("transfer-encoding") > 0 { faults.append("both lengths") }
        if status == 204 || status < 200, count("content-length") > 0 { faults.append("Content-Length in a \(status)") }
        if !exchange.request.version.isAtLeast11, count("transfer-encoding") > 0 { faults.append("chunks for HTTP/1.0") }
        let isMade =
            exchange.trace.fault != nil && delivery.status == exchange.trace.fault.map { exchange.gatewayError($0).status }
        if !isMade, exchange.request.method != .head, exchange.trace.outcome != .local {
            switch (delivery.length, framing) {
            case (.none, .none), (.none, .length(0)), (.known(0), .none): break
            case (.known(let length), .length(let written)) where length == written: break
            case (.unknown, .chunked) where delivery.isChunked: break
            case (.unknown, .untilClose) where !delivery.isChunked: break
            default: faults.append("delivers \(delivery.length), framed as \(framing)")
            }
            if delivery.sendsContent != (delivery.length != .none && delivery.length != .known(0)) {
                faults.append("sendsContent \(delivery.sendsContent) with \(delivery.length)")
            }
        }
        if exchange.request.method == .head, delivery.sendsContent { faults.append("content for HEAD") }
        if framing == .untilClose, delivery.keepsConnection { faults.append("ends with a connection that is kept") }
        if (self["connection"] == "close") == delivery.keepsConnection { faults.append("Connection disagrees with delivery") }
        return faults
    }

    private func fieldFaults(in exchange: borrowing Exchange) -> [String] {
        var faults: [String] = []
        for line in lines {
            if !line.name.utf8.allSatisfy(ASCII.isTokenCharacter) || line.name.isEmpty { faults.append("name \(line.name)") }
        }
        for name in ["date", "age", "connection"] where count(name) > 1 { faults.append("several \(name)") }
        for name in ["keep-alive", "te", "upgrade", "proxy-connection", "proxy-authenticate"]
        where count(name) > 0 && (name != "proxy-authenticate" || status != 407) {
            faults.append("hop-by-hop \(name)")
        }
        if status >= 200, count("date") != 1 { faults.append("no Date") }
        if let age = self["age"], age.isEmpty || !age.allSatisfy(\.isNumber) { faults.append("Age \(age)") }
        let via = (self["via"] ?? "").split(separator: ",").last.map(String.init)
        if via?.hasSuffix("1.1 larder") != true && via?.hasSuffix("1.0 larder") != true { faults.append("Via \(via ?? "")") }
        if let own = lines.last(where: { $0.name == "cache-status" }), !StructuredFields.isItem(own.value) {
            faults.append("Cache-Status \(own.value)")
        }
        if let own = self["proxy-status"], !StructuredFields.isItem(own) { faults.append("Proxy-Status \(own)") }
        if (exchange.trace.outcome == .hit || exchange.trace.outcome == .staleHit), status == 200, self["age"] == nil {
            faults.append("a hit without Age")
        }
        return faults
    }
}
