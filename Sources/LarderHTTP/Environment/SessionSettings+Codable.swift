import HTTPCaching

extension SessionSettings: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case base, defaultFields, timeouts, limits, threads, redirects, retries, decodesContent, cachePolicy, proxy, offersHTTP2
        case resolve
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let members = try StrictContainer(decoder, CodingKeys.self)
        try members.read(.base, into: &base)
        try members.read(.defaultFields, into: &defaultFields)
        try members.read(.timeouts, into: &timeouts)
        try members.read(.limits, into: &limits)
        try members.read(.threads, into: &threads)
        try members.read(.redirects, into: &redirects)
        try members.read(.retries, into: &retries)
        try members.read(.decodesContent, into: &decodesContent)
        var policy = cachePolicy.name
        try members.read(.cachePolicy, into: &policy)
        guard let found = CachePolicy.allCases.first(where: { $0.name == policy }) else {
            throw members.corrupted(.cachePolicy, "expected one of \(CachePolicy.allCases.map(\.name).joined(separator: ", "))")
        }
        cachePolicy = found
        try members.read(.proxy, into: &proxy)
        try members.read(.offersHTTP2, into: &offersHTTP2)
        try members.read(.resolve, into: &resolve)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(base, forKey: .base)
        try members.encode(defaultFields, forKey: .defaultFields)
        try members.encode(timeouts, forKey: .timeouts)
        try members.encode(limits, forKey: .limits)
        try members.encode(threads, forKey: .threads)
        try members.encode(redirects, forKey: .redirects)
        try members.encode(retries, forKey: .retries)
        try members.encode(decodesContent, forKey: .decodesContent)
        try members.encode(cachePolicy.name, forKey: .cachePolicy)
        try members.encodeIfPresent(proxy, forKey: .proxy)
        try members.encode(offersHTTP2, forKey: .offersHTTP2)
        try members.encode(resolve, forKey: .resolve)
    }
}

extension CachePolicy {
    fileprivate var name: String { "\(word)" }
}

extension SessionSettings.Redirects: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case kind, atMost }

    public init(from decoder: any Decoder) throws {
        let members = try StrictContainer(decoder, CodingKeys.self)
        var (kind, limit) = ("follow", 10)
        try members.read(.kind, into: &kind)
        try members.read(.atMost, into: &limit)
        switch kind {
        case "follow": self = .follow(atMost: limit)
        case "sameSite": self = .sameSite(atMost: limit)
        case "deliver": self = .deliver
        case "deny": self = .deny
        default: throw members.corrupted(.kind, "expected one of follow, sameSite, deliver, deny")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .follow(let limit):
            try members.encode("follow", forKey: .kind)
            try members.encode(limit, forKey: .atMost)
        case .sameSite(let limit):
            try members.encode("sameSite", forKey: .kind)
            try members.encode(limit, forKey: .atMost)
        case .deliver: try members.encode("deliver", forKey: .kind)
        case .deny: try members.encode("deny", forKey: .kind)
        }
    }
}

extension SessionSettings.Proxy: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case host, port }

    /// The text `environment`, or an object with host and port.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            guard text == "environment" else {
                let path = decoder.codingPath.map(\.stringValue).joined(separator: ".")
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath,
                        debugDescription: "\(path): expected environment, or an object with host and port"))
            }
            self = .environment
            return
        }
        let members = try StrictContainer(decoder, CodingKeys.self)
        var (host, port) = (String?.none, UInt16?.none)
        try members.read(.host, into: &host)
        try members.read(.port, into: &port)
        guard let host else { throw members.corrupted(.host, "a proxy needs a host") }
        guard let port else { throw members.corrupted(.port, "a proxy needs a port") }
        self = .server(host: host, port: port)
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .environment:
            var value = encoder.singleValueContainer()
            try value.encode("environment")
        case .server(let host, let port):
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(host, forKey: .host)
            try members.encode(port, forKey: .port)
        }
    }
}
