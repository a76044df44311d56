import HTTPMessage

/// A request, as the rules of caching see it.
public struct CachingRequest: Sendable {
    let head: RequestHead

    /// - Parameters:
    ///   - method: the method, in upper case.
    ///   - uri: the target URI, with `http` or `https`.
    ///   - fields: the field lines, in order. Content-Length and Transfer-Encoding say that the request has content.
    /// - Returns: `nil` if the URI, the method, or a field is malformed.
    public init?(_ method: String = "GET", _ uri: String, fields: [(name: String, value: String)] = []) {
        let (name, target) = (Array(method.utf8), Array(uri.utf8))
        guard !name.isEmpty, name.allSatisfy(ASCII.isTokenCharacter),
            var head = RequestHead(uri: target.span, method: Method(name.span)), !head.target.host.isEmpty,
            head.fields.append(fields)
        else { return nil }
        head.methodName = head.fields.appendBytes(name.span)
        self.head = head
    }
}

/// A response, as the rules of caching see it, with the times of its exchange.
public struct CachingResponse: Sendable {
    let head: ResponseHead
    let requestTime: Timestamp
    let responseTime: Timestamp

    /// - Parameters:
    ///   - status: a final status, from 200 to 999.
    ///   - fields: the field lines, in order.
    ///   - requestTime: when the request was sent: the time since 1970-01-01T00:00:00Z (RFC 9111 §4.2.3).
    ///   - responseTime: when the head of the response was received.
    /// - Returns: `nil` if a field is malformed, or the status is not final.
    public init?(_ status: Int, fields: [(name: String, value: String)] = [], requestTime: Duration, responseTime: Duration) {
        var head = ResponseHead()
        guard (200...999).contains(status), head.fields.append(fields) else { return nil }
        head.status = Status(UInt16(status))
        self.head = head
        self.requestTime = Timestamp(requestTime)
        self.responseTime = Timestamp(responseTime)
    }

    var facts: ReuseFacts {
        Storability.facts(
            of: head, directives: ResponseDirectives(head.fields, targets: .none), requestTime: requestTime,
            responseTime: responseTime)
    }
}

extension CacheKey {
    /// The key of a request. Requests with other methods have the key too: an unsafe request invalidates the responses under it.
    public init(of request: CachingRequest) { self.init(of: request.head) }
}

extension CacheKey: CustomStringConvertible {
    /// The key as text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension Storability {
    /// Why a shared cache does not store this response; `nil` if it may store it.
    ///
    /// For a cache of one user, pass `CacheOverrides(ignored: [.private])`.
    public static func refusal(
        of response: CachingResponse, to request: CachingRequest, overrides: CacheOverrides = .none
    ) -> StorageRefusal? {
        if case .doNotStore(let refusal) = decide(response, to: request, overrides) { return refusal }
        return nil
    }

    fileprivate static func decide(
        _ response: CachingResponse, to request: CachingRequest, _ overrides: CacheOverrides
    ) -> StorageDecision {
        decide(
            request: request.head, response: response.head, overrides: overrides, requestTime: response.requestTime,
            responseTime: response.responseTime)
    }
}

extension Freshness {
    /// How long the response stays fresh, counted from when the origin server generated it, and what says so.
    public static func lifetime(
        of response: CachingResponse, overrides: CacheOverrides = .none
    ) -> (lifetime: DeltaSeconds, source: LifetimeSource) {
        let found = response.facts.lifetime(under: overrides)
        return (found.value, found.source)
    }

    /// The age of the response at a time since 1970 (current_age in RFC 9111 §4.2.3).
    public static func age(of response: CachingResponse, at now: Duration) -> DeltaSeconds {
        response.facts.currentAge(at: Timestamp(now))
    }
}

extension Vary {
    /// Whether a stored response applies to a request with the same key: the fields that its Vary names have the same values in both
    /// requests.
    /// - Parameters:
    ///   - response: the stored response.
    ///   - former: the request that fetched it.
    ///   - request: the new request.
    public static func matches(_ response: CachingResponse, to former: CachingRequest, for request: CachingRequest) -> Bool {
        guard let form = nominatedFields(for: response.head, request: former.head) else { return false }
        return matches(form, request.head.fields)
    }
}

extension Reuse {
    /// Whether a stored response satisfies a request.
    /// - Parameters:
    ///   - response: the stored response. If the same overrides forbid storing it, the request is forwarded.
    ///   - former: the request that fetched it.
    ///   - request: the new request.
    ///   - now: the time since 1970.
    ///   - overrides: in which ways the decision differs from RFC 9111.
    public static func decide(
        _ response: CachingResponse, to former: CachingRequest, for request: CachingRequest, at now: Duration,
        overrides: CacheOverrides = .none
    ) -> ReuseDecision {
        let directives = RequestDirectives(request.head)
        if let early = decideBeforeLookUp(for: directives, overrides: overrides) { return early }
        guard CacheKey(of: former) == CacheKey(of: request),
            case .store(let facts, _) = Storability.decide(response, to: former, overrides)
        else { return decideMiss(.uriMiss, for: directives, overrides: overrides) }
        guard Vary.matches(response, to: former, for: request) else {
            return decideMiss(.varyMiss, for: directives, overrides: overrides)
        }
        return decide(facts, for: directives, overrides: overrides, at: Timestamp(now))
    }
}

extension Timestamp {
    /// The time this long after 1970, in whole milliseconds. Times that no HTTP-date can have are cut off, so that differences of times
    /// cannot overflow.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        // The ends of the years 0 and 9999.
        let within = min(max(seconds, -62_167_219_200), 253_402_300_799)
        self.init(milliseconds: within * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

extension Fields {
    /// - Returns: `false` if a name is not a token, or a value has a control character other than a tab.
    fileprivate mutating func append(_ lines: [(name: String, value: String)]) -> Bool {
        for (name, value) in lines {
            guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isTokenCharacter),
                !value.utf8.contains(where: { $0 < 0x20 && $0 != ASCII.tab || $0 == 0x7F })
            else { return false }
            append(name: name, value: value)
        }
        return true
    }
}
