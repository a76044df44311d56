/// The origin that the last target in absolute form named, `http://host:port/`, as bytes and as what was found in them.
///
/// A program asks one origin many times. The same bytes up to the slash where the path begins name the same origin, so that
/// comparing them says all that reading them again would.
package struct OriginMemory: Sendable {
    /// Longer ones are read each time.
    static let lengthLimit = 256

    private var octets: [UInt8] = []
    /// Its places count from the target's first byte.
    private var target = RequestTarget()

    package init() {}

    /// Gives the target the origin of before, where the bytes from `start` on name it.
    /// - Returns: where the path begins, at its slash; `nil` where they name another.
    func restore(at start: Int, in bytes: Span<UInt8>, into target: inout RequestTarget) -> Int? {
        let end = start + octets.count
        guard !octets.isEmpty, end <= bytes.count, bytes.extracting(start..<end).isSame(as: octets.span) else { return nil }
        target = self.target
        target.host = target.host.moved(by: start)
        return end - 1
    }

    /// - Parameter range: from the target's first byte to where its path begins, which has to be a slash to be remembered.
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
