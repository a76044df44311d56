// The parts of `SessionSettings` that `SessionConfiguration` has too.

extension SessionTimeouts: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case queue, connect, firstByte, idle, total }

    public init(from decoder: any Decoder) throws {
        self.init()
        let members = try StrictContainer(decoder, CodingKeys.self)
        try members.read(.queue, into: &queue)
        try members.read(.connect, into: &connect)
        try members.read(.firstByte, into: &firstByte)
        try members.read(.idle, into: &idle)
        try members.read(.total, into: &total)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(DurationText.text(queue), forKey: .queue)
        try members.encode(DurationText.text(connect), forKey: .connect)
        try members.encode(DurationText.text(firstByte), forKey: .firstByte)
        try members.encode(DurationText.text(idle), forKey: .idle)
        try members.encode(DurationText.text(total), forKey: .total)
    }
}

extension SessionLimits: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case activeExchanges, activeExchangesPerOrigin, waitingTransfers, tries, resumptions, bodyLength, cachedBodyLength
        case unreadBodyLength, idleConnectionsPerOrigin, idleConnections, idleConnectionTime
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let members = try StrictContainer(decoder, CodingKeys.self)
        try members.read(.activeExchanges, into: &activeExchanges)
        try members.read(.activeExchangesPerOrigin, into: &activeExchangesPerOrigin)
        try members.read(.waitingTransfers, into: &waitingTransfers)
        try members.read(.tries, into: &tries)
        try members.read(.resumptions, into: &resumptions)
        try members.read(.bodyLength, into: &bodyLength)
        try members.read(.cachedBodyLength, into: &cachedBodyLength)
        try members.read(.unreadBodyLength, into: &unreadBodyLength)
        try members.read(.idleConnectionsPerOrigin, into: &idleConnectionsPerOrigin)
        try members.read(.idleConnections, into: &idleConnections)
        try members.read(.idleConnectionTime, into: &idleConnectionTime)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(activeExchanges, forKey: .activeExchanges)
        try members.encode(activeExchangesPerOrigin, forKey: .activeExchangesPerOrigin)
        try members.encode(waitingTransfers, forKey: .waitingTransfers)
        try members.encode(tries, forKey: .tries)
        try members.encode(resumptions, forKey: .resumptions)
        try members.encode(bodyLength, forKey: .bodyLength)
        try members.encode(cachedBodyLength, forKey: .cachedBodyLength)
        try members.encode(unreadBodyLength, forKey: .unreadBodyLength)
        try members.encode(idleConnectionsPerOrigin, forKey: .idleConnectionsPerOrigin)
        try members.encode(idleConnections, forKey: .idleConnections)
        try members.encode(DurationText.text(idleConnectionTime), forKey: .idleConnectionTime)
    }
}

extension RetryPolicy: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case limit, delay, longestDelay, jitter, longestRetryAfter, statuses, errors
    }

    public init(from decoder: any Decoder) throws {
        self.init()
        let members = try StrictContainer(decoder, CodingKeys.self)
        try members.read(.limit, into: &limit)
        try members.read(.delay, into: &delay)
        try members.read(.longestDelay, into: &longestDelay)
        try members.read(.jitter, into: &jitter)
        try members.read(.longestRetryAfter, into: &longestRetryAfter)
        try members.read(.statuses, into: &statuses)
        var words: [String]?
        try members.read(.errors, into: &words)
        guard let words else { return }
        errors = []
        for word in words {
            guard let code = SessionError.Code(rawValue: word) else {
                throw members.corrupted(.errors, "\(word) is no code of an error")
            }
            errors.insert(code)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(limit, forKey: .limit)
        try members.encode(DurationText.text(delay), forKey: .delay)
        try members.encode(DurationText.text(longestDelay), forKey: .longestDelay)
        try members.encode(jitter, forKey: .jitter)
        try members.encode(DurationText.text(longestRetryAfter), forKey: .longestRetryAfter)
        try members.encode(statuses.sorted(), forKey: .statuses)
        try members.encode(errors.map(\.rawValue).sorted(), forKey: .errors)
    }
}
