/// How much a response cache holds.
public struct CacheStatistics: Equatable, Sendable {
    /// How many responses are stored; each variant counts.
    public var responses: Int
    /// The size of the stored responses, in bytes.
    public var size: UInt64
    /// The size above which responses are evicted, in bytes.
    public var capacity: UInt64

    /// The statistics of a cache of your own.
    public init(responses: Int, size: UInt64, capacity: UInt64) {
        self.responses = responses
        self.size = size
        self.capacity = capacity
    }
}
