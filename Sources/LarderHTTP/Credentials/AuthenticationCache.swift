import EventLoop

/// Credentials that origins and proxies have accepted. Later requests send them without waiting for a challenge (RFC 7617 §2.2, RFC
/// 7616 §3.6).
final class AuthenticationCache: Sendable {
    /// Credentials that can be sent again.
    enum Access: Sendable {
        case fixed(String)
        case digest(DigestAccess)

        var scheme: String {
            switch self {
            case .fixed(let value): String(value.prefix { $0 != " " }).lowercased()
            case .digest: "digest"
            }
        }
    }

    struct Place: Hashable {
        let host: String
        let port: UInt16
        let isSecure: Bool
        let isProxy: Bool
    }

    private struct Entry {
        let access: Access
        var count: UInt32 = 0
    }

    /// When the cache has this many entries, it is cleared before the next entry is added.
    private static let limit = 1000

    private let entries = Guarded<[Place: Entry]>([:])

    var isEmpty: Bool { entries.withLock { $0.isEmpty } }

    func value(for place: Place, method: String, target: String) -> String? {
        let entry: Entry? = entries.withLock { entries in
            guard var entry = entries[place] else { return nil }
            entry.count &+= 1
            entries[place] = entry
            return entry
        }
        guard let entry else { return nil }
        switch entry.access {
        case .fixed(let value): return value
        case .digest(let digest):
            let nonce = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
            return digest.answer(method: method, target: target, count: entry.count, clientNonce: nonce)
        }
    }

    func note(_ access: Access, for place: Place) {
        entries.withLock { entries in
            if entries.count >= Self.limit { entries = [:] }
            entries[place] = Entry(access: access)
        }
    }

    func forget(_ place: Place) { entries.withLock { $0[place] = nil } }
}
