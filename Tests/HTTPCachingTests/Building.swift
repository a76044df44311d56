import HTTPCaching
import HTTPMessage
import Testing

/// 2024-06-01T00:00:00Z, when all scripted responses arrive unless a test sets another time.
let arrival = Timestamp(seconds: 1_717_200_000)
let arrivalDate = "Sat, 01 Jun 2024 00:00:00 GMT"

/// The HTTP-date of a time this many seconds from `arrival`.
func date(_ seconds: Int64) -> String {
    var output: [UInt8] = []
    HTTPDate.write(arrival.advanced(seconds: seconds), into: &output)
    return String(decoding: output, as: UTF8.self)
}

/// A request head; each field is given as `Name: value`.
func request(_ method: String = "GET", _ target: String = "http://example.com/a", _ fields: String...) -> RequestHead {
    var head = RequestHead()
    head.methodName = head.fields.appendBytes(Array(method.utf8).span)
    head.method = Method(Array(method.utf8).span)
    head.rawTarget = head.fields.appendBytes(Array(target.utf8).span)
    do {
        head.target = try RequestTarget(parsing: head.rawTarget.range, in: head.fields.bytes.span, method: head.method)
    } catch {
        Issue.record("\(target): \(error)")
    }
    head.fields.append(name: "Host", value: "example.com")
    append(fields, to: &head.fields)
    return head
}

func get(_ fields: String...) -> RequestHead {
    var head = request()
    append(fields, to: &head.fields)
    return head
}

/// A response head with a Date of `arrival`, unless a Date is given or `date` is false.
func response(_ status: UInt16 = 200, _ fields: String..., date: Bool = true) -> ResponseHead {
    var head = ResponseHead()
    head.status = Status(status)
    if date, !fields.contains(where: { $0.lowercased().hasPrefix("date:") }) {
        head.fields.append(name: "Date", value: arrivalDate)
    }
    append(fields, to: &head.fields)
    return head
}

private func append(_ fields: [String], to target: inout Fields) {
    for field in fields {
        let colon = field.firstIndex(of: ":") ?? field.endIndex
        let value = field[colon...].dropFirst().drop(while: { $0 == " " })
        target.append(name: String(field[..<colon]), value: String(value))
    }
}

func decide(
    _ response: ResponseHead, to request: RequestHead = request(), overrides: CacheOverrides = .none,
    requestTime: Timestamp = arrival, responseTime: Timestamp = arrival
) -> StorageDecision {
    Storability.decide(
        request: request, response: response, overrides: overrides, requestTime: requestTime, responseTime: responseTime)
}

func facts(
    _ response: ResponseHead, to request: RequestHead = request(), overrides: CacheOverrides = .none,
    requestTime: Timestamp = arrival, responseTime: Timestamp = arrival, _ location: SourceLocation = #_sourceLocation
) throws -> ReuseFacts {
    let decision = decide(response, to: request, overrides: overrides, requestTime: requestTime, responseTime: responseTime)
    guard case .store(let facts, _) = decision else {
        Issue.record("not stored: \(decision)", sourceLocation: location)
        throw NotStored()
    }
    return facts
}

struct NotStored: Error {}

func stored(
    _ response: ResponseHead, to request: RequestHead = request(), overrides: CacheOverrides = .none,
    body: StoredBody = .bytes(Array("0123456789".utf8)), at time: Timestamp = arrival,
    _ location: SourceLocation = #_sourceLocation
) throws -> StoredResponse {
    let facts = try facts(response, to: request, overrides: overrides, requestTime: time, responseTime: time, location)
    let prepared = try #require(StoredFields.prepare(response, to: request, facts: facts))
    return StoredResponse(
        key: CacheKey(of: request).bytes, nominatedFields: prepared.nominatedFields, facts: facts, head: prepared.head,
        requestTime: time, body: body)
}

/// The decision about a stored response for a request this many seconds after `arrival`.
func reuse(
    _ facts: ReuseFacts, for request: RequestHead = request(), overrides: CacheOverrides = .none, after seconds: Int64
) -> ReuseDecision {
    Reuse.decide(facts, for: RequestDirectives(request), overrides: overrides, at: arrival.advanced(seconds: seconds))
}

extension ReuseDecision {
    var isFresh: Bool { if case .fresh = self { true } else { false } }

    var staleReason: StaleReason? { if case .staleAllowed(_, let reason) = self { reason } else { nil } }
}

extension StorageDecision {
    var refusal: StorageRefusal? { if case .doNotStore(let refusal) = self { refusal } else { nil } }
}

extension Fields {
    func values(of name: String) -> [String] {
        lines.filter { text(of: $0.name).lowercased() == name.lowercased() }.map { text(of: $0.value) }
    }
}

/// The canonical form of nominated fields: names with values, `nil` for absent fields.
func canonical(_ fields: (String, String?)...) -> [UInt8] {
    fields.flatMap { name, value in
        let count = value?.utf8.count ?? 65_535
        let prefix = [UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(count & 255), UInt8(count >> 8)]
        return prefix + Array((value ?? "").utf8)
    }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
