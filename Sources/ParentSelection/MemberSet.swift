/// A set of members of a group, by their positions.
public struct MemberSet: Equatable, Sendable {
    private var bits: UInt64 = 0

    /// The maximum number of members of a group.
    public static let limit = 64

    public init() {}

    public var isEmpty: Bool { bits == 0 }
    public var count: Int { bits.nonzeroBitCount }

    public func contains(_ member: Int) -> Bool { bits & (1 << UInt64(member)) != 0 }

    public mutating func insert(_ member: Int) { bits |= 1 << UInt64(member) }
}
