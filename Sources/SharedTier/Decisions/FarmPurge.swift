import HTTPCaching
import HTTPMessage
import ResponseStore

/// A purge for all nodes, as it is written into the engine.
struct FarmPurge: Sendable {
    let request: PurgeRequest
    let isSoft: Bool

    private static let version: UInt8 = 1

    init(_ request: PurgeRequest, isSoft: Bool) {
        self.request = request
        self.isSoft = isSoft
    }

    /// - Returns: `nil` if the bytes are not a purge of this version.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count >= 3, bytes[0] == Self.version, bytes[1] <= 1, bytes[2] <= 1 else { return nil }
        isSoft = bytes[1] == 1
        let rest = Array(bytes[3...])
        if bytes[2] == 0 {
            guard let filter = StoreFilter(encoded: rest) else { return nil }
            request = .matching(filter)
        } else {
            guard let keys = Self.keys(rest) else { return nil }
            request = .keys(keys)
        }
    }

    var encoded: [UInt8] {
        switch request {
        case .matching(let filter): return [Self.version, isSoft ? 1 : 0, 0] + filter.encoded
        case .keys(let keys):
            var bytes: [UInt8] = [Self.version, isSoft ? 1 : 0, 1]
            for key in keys {
                for shift in stride(from: 0, to: 32, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: key.count) >> UInt32(shift)))
                }
                bytes += key
            }
            return bytes
        }
    }

    private static func keys(_ bytes: [UInt8]) -> [[UInt8]]? {
        var keys: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { return nil }
            let start = rest.startIndex
            let count = (0..<4).reduce(0) { $0 | Int(rest[start + $1]) << ($1 * 8) }
            guard count <= rest.count - 4 else { return nil }
            keys.append(Array(rest[(start + 4)..<(start + 4 + count)]))
            rest = rest[(start + 4 + count)...]
        }
        return keys
    }

    /// A soft purge also keeps entries of the engine from being used: a node that needs one fetches it again.
    func covers(_ response: StoredResponse, at now: Timestamp) -> Bool {
        switch request {
        case .keys(let keys): keys.contains(response.key)
        case .matching(let filter): filter.matches(StoredEntry(response), at: now)
        }
    }
}
