public import HTTPCaching
import HTTPMessage

extension CachedResponse.Key {
    /// The key of the responses of a target, for GET and HEAD.
    public init(_ uri: TargetURI) {
        let octets = Array(uri.description.utf8)
        self.init(RequestHead(uri: octets.span, method: .get).map { CacheKey(of: $0).bytes } ?? octets)
    }
}

extension ResponseCaching {
    /// Removes all stored responses of a target, with all their variants.
    /// - Returns: whether any response was stored.
    @discardableResult
    public func remove(_ uri: TargetURI) async -> Bool {
        let key = CachedResponse.Key(uri)
        let isStored = await !responses(for: key).isEmpty
        await remove(key)
        return isStored
    }
}
