import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyCore
import Testing

/// Messages read by the real parsers, and responses stored by the real rules.
enum Messages {
    static let epoch = Timestamp(seconds: 1_700_000_000)

    struct Incomplete: Error {}

    /// `GET http://a.example/x`, in HTTP/1.1 unless the line names a version, with a Host unless one is given.
    static func requestText(_ line: String, _ fields: [String]) -> String {
        let hasVersion = line.contains(" HTTP/1.")
        let hasHost = fields.contains { $0.lowercased().hasPrefix("host:") }
        let host = hasHost ? [] : ["Host: a.example"]
        return ([hasVersion ? line : line + " HTTP/1.1"] + host + fields + ["", ""]).joined(separator: "\r\n")
    }

    static func request(_ line: String, _ fields: [String] = []) throws -> RequestHead {
        var head = RequestHead()
        try read(requestText(line, fields), into: &head)
        return head
    }

    static func read(_ text: String, into head: inout RequestHead) throws {
        var parser = RequestParser()
        guard try parser.parse(Array(text.utf8).span.bytes, into: &head) != nil else { throw Incomplete() }
    }

    static func responseText(_ status: Int, _ fields: [String], reason: String = "OK") -> String {
        (["HTTP/1.1 \(status) \(reason)"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    static func response(_ status: Int, _ fields: [String] = []) throws -> ResponseHead {
        var head = ResponseHead()
        try read(responseText(status, fields), into: &head)
        return head
    }

    static func read(_ text: String, into head: inout ResponseHead) throws {
        var parser = ResponseParser()
        guard try parser.parse(Array(text.utf8).span.bytes, into: &head) != nil else { throw Incomplete() }
    }

    /// A stored response to GET http://a.example/x, `age` seconds after it was received.
    static func stored(
        _ fields: String..., body: String = "0123456789", age: Int64 = 0, status: Int = 200,
        to request: String = "GET http://a.example/x", with requestFields: [String] = [],
        overrides: CacheOverrides = .none, now: Timestamp = epoch
    ) throws -> StoredResponse {
        let cameAt = now.advanced(seconds: -age)
        let request = try Messages.request(request, requestFields)
        var date: [UInt8] = []
        HTTPDate.write(cameAt, into: &date)
        let response = try Messages.response(
            status, fields + ["Date: " + String(decoding: date, as: UTF8.self), "Content-Length: \(body.utf8.count)"])
        let decision = Storability.decide(
            request: request, response: response, overrides: overrides, requestTime: cameAt, responseTime: cameAt)
        guard case .store(let facts, _) = decision, let kept = StoredFields.prepare(response, to: request, facts: facts) else {
            throw NotStorable(decision: decision)
        }
        return StoredResponse(
            key: CacheKey(of: request).bytes, nominatedFields: kept.nominatedFields, facts: facts, head: kept.head,
            requestTime: cameAt, body: .bytes(Array(body.utf8)))
    }

    struct NotStorable: Error { let decision: StorageDecision }
}

extension BodyFraming {
    var bodyLength: BodyLength {
        switch self {
        case .none: .none
        case .length(let length): .known(length)
        case .chunked, .untilClose: .unknown
        }
    }
}
