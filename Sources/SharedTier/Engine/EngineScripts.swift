import RESPWire

/// The names of keys in the engine. The keys of one cache key have the same hash tag, and therefore the same slot.
struct EngineKeys: Sendable {
    let farm: String
    private let prefix: [UInt8]

    /// - Parameter farm: the name of the farm, so that several farms can use one engine.
    init(farm: String) {
        self.farm = farm
        prefix = Array("larder:\(farm):".utf8)
    }

    /// The hash of a cache key: a field for each variant, and the fields of `EngineScripts`.
    func entry(_ name: [UInt8]) -> [UInt8] { prefix + [0x7B] + name + [0x7D] }
    /// The lease of the node that fetches a cache key.
    func lease(_ name: [UInt8]) -> [UInt8] { entry(name) + Array(":lease".utf8) }
    func piece(_ piece: [UInt8], of name: [UInt8]) -> [UInt8] { entry(name) + Array(":".utf8) + piece }

    /// The farm's own keys have one slot.
    private func own(_ word: String) -> [UInt8] { prefix + Array("{farm}:\(word)".utf8) }
    var epoch: [UInt8] { own("epoch") }
    var generation: [UInt8] { own("generation") }
    var log: [UInt8] { own("purges") }
    var nodes: [UInt8] { own("nodes") }
    /// The channel on which purges are announced.
    var channel: [UInt8] { own("channel") }
}

/// The scripts that the engine runs. A script runs as a whole, so no other node's command comes between its steps.
///
/// In the hash of a cache key, `f` is the fence: a number that grows with each lease and each invalidation. A response that was fetched
/// under an older fence is refused. `u` is the time at which a fetch brought nothing to share. Both names are shorter than a variant's.
enum EngineScripts {
    static let fence: [UInt8] = [UInt8(ascii: "f")]
    static let unshared: [UInt8] = [UInt8(ascii: "u")]

    /// The scripts that store nothing large are also run by an engine that is full.
    private static let always = "#!lua flags=allow-oom\n"

    private static let time = """
        local t = redis.call('TIME')
        local now = t[1] * 1000000 + t[2]
        """

    /// Raises the fence. If the engine has forgotten it, its clock makes the new fence greater than those before.
    private static let raise = """
        local last = tonumber(redis.call('HGET', KEYS[1], 'f') or '0')
        if now <= last then now = last + 1 end
        local fence = string.format('%.0f', now)
        """

    /// Takes the lease of a key. Keys: the hash and the lease. Arguments: the token, the lease's and the hash's least time in milliseconds.
    /// Returns the fence, and whether the key was requested before; 0 if another node has the lease; -1 if nothing can be shared.
    static let lead = """
        \(time)
        local unshared = tonumber(redis.call('HGET', KEYS[1], 'u') or '0')
        if now - unshared < 2000000 then return -1 end
        if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
        local seen = redis.call('HEXISTS', KEYS[1], 'f')
        \(raise)
        redis.call('HSET', KEYS[1], 'f', fence)
        if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return {fence, seen}
        """

    /// Extends a lease that this node still has. Keys: the lease. Arguments: the token, the time.
    static let renew =
        always + """
            if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
            return 0
            """

    /// Ends a lease without a response. Keys: the hash and the lease. Arguments: the token, and 1 if the fetch brought nothing
    /// that may be shared.
    static let release =
        always + """
            if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
            \(time)
            redis.call('DEL', KEYS[2])
            if ARGV[2] == '0' then return 1 end
            redis.call('HSET', KEYS[1], 'u', string.format('%.0f', now))
            if redis.call('PTTL', KEYS[1]) < 60000 then redis.call('PEXPIRE', KEYS[1], 60000) end
            return 1
            """

    /// Stores an entry. Keys: the hash and the lease. Arguments: the fence, the variant, the entry, its time in milliseconds, the token, the
    /// maximum number of fields. Returns 0 if the response was overtaken.
    static let store = """
        local fence = redis.call('HGET', KEYS[1], 'f')
        if redis.call('GET', KEYS[2]) == ARGV[5] then redis.call('DEL', KEYS[2]) end
        if fence and fence ~= ARGV[1] then return 0 end
        if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[6]) then redis.call('DEL', KEYS[1]) end
        redis.call('HSET', KEYS[1], 'f', ARGV[1], ARGV[2], ARGV[3])
        redis.call('HDEL', KEYS[1], 'u')
        if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
        return 1
        """

    /// Removes all variants. Keys: the hash. Arguments: how long the new fence is kept, in milliseconds.
    static let invalidate =
        always + """
            \(time)
            \(raise)
            redis.call('DEL', KEYS[1])
            redis.call('HSET', KEYS[1], 'f', fence)
            redis.call('PEXPIRE', KEYS[1], ARGV[1])
            return 1
            """

    /// Renews a node's lease in the farm. Keys: epoch, generation, nodes. Arguments: a new epoch if there is none, the node's identity, its
    /// epoch and generation, the lease's time in milliseconds, the node's name. Returns the epoch and the generation.
    static let join =
        always + """
            \(time)
            redis.call('SET', KEYS[1], ARGV[1], 'NX')
            local value = ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. string.format('%.0f', now + ARGV[5] * 1000) .. ' ' .. ARGV[6]
            redis.call('HSET', KEYS[3], ARGV[2], value)
            return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2]) or '0'}
            """

    /// Ends a node's lease. Keys: nodes. Arguments: the node's identity.
    static let leave = always + "return redis.call('HDEL', KEYS[1], ARGV[1])"

    /// Adds a purge to the log and announces it. Keys: epoch, generation, purges. Arguments: the epoch, the record, the number of records to
    /// keep, the channel. Returns the number of the purge, or -1 if the epoch is different.
    static let append =
        always + """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
            local number = redis.call('INCR', KEYS[2])
            redis.call('HSET', KEYS[3], number, ARGV[2])
            redis.call('HDEL', KEYS[3], number - ARGV[3])
            redis.call('PUBLISH', ARGV[4], number)
            return number
            """

    /// Reads the leases of all nodes. Keys: epoch, generation, purges, nodes. Arguments: the number of a purge. Forgets nodes whose lease
    /// ended an hour ago. Returns the epoch, the generation, whether the record of the purge exists, the time, and the nodes.
    static let standing =
        always + """
            \(time)
            local nodes = redis.call('HGETALL', KEYS[4])
            for i = 1, #nodes, 2 do
                local expiry = tonumber(string.match(nodes[i + 1], '^%S+ %S+ (%d+)') or '0')
                if now - expiry > 3600000000 then redis.call('HDEL', KEYS[4], nodes[i]) end
            end
            return {redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or '0', redis.call('HEXISTS', KEYS[3], ARGV[1]),
                string.format('%.0f', now), nodes}
            """

    static func command(_ script: String, keys: [[UInt8]], _ arguments: [RESPWord]) -> [RESPWord] {
        ["EVAL", RESPWord(script), RESPWord(keys.count)] + keys.map { RESPWord($0) } + arguments
    }
}
