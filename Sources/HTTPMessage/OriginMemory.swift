/// The origin of the last target in absolute form, `http://host:port/`, both as bytes and as parsed.
///
/// Programs send many requests to one origin. If the bytes before the path are the same as in the last target, the origin is the
/// same too and need not be parsed.
package struct OriginMemory: Sendable {
    /// An origin of this length in bytes, or a longer origin, is not remembered.
    static let lengthLimit = 256

    private var octets: [UInt8] = []
    /// The parsed target; its positions are relative to the target's first byte.
    private var target = RequestTarget()

    package init() {}

    /// Sets the target to the remembered origin, if the bytes from `start` on match it.
    /// - Returns: the index of the slash at which the path starts; `nil` if the origin differs.
    func restore(at start: Int, in bytes: Span<UInt8>, into target: inout RequestTarget) -> Int? {
        let end = start + octets.count
        guard !octets.isEmpty, end <= bytes.count, bytes.extracting(start..<end).isSame(as: octets.span) else { return nil }
        target = self.target
        target.host = target.host.moved(by: start)
        return end - 1
    }

    /// - Parameter range: the bytes from the target's first byte to the start of its path. The origin is remembered only if the path
    ///   starts with a slash.
    mutating func remember(_ target: RequestTarget, standingIn range: Range<Int>, of bytes: Span<UInt8>) {
        octets.removeAll(keepingCapacity: true)
        guard range.count < Self.lengthLimit, range.upperBound < bytes.count, bytes[range.upperBound] == ASCII.slash else {
            return
        }
        octets.append(bytes.extracting(range.lowerBound..<range.upperBound + 1))
        self.target = target
        self.target.host = target.host.moved(by: -range.lowerBound)
    }
}
