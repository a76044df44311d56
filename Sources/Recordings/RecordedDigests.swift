import ServerTrust

/// The content digests of recordings, for log lines. If an exchange ends before its log line is written, its digest is kept for the line.
/// Otherwise the line waits for the end of the exchange. Confined to the recording's thread.
package struct RecordedDigests {
    package typealias Line = @Sendable (SHA256Digest?) -> Void

    private enum State {
        case isUnderWay
        case known(SHA256Digest?)
        case awaited(Line)
    }

    private var states: [UInt64: State] = [:]

    /// Begins an exchange whose digest a log line will request.
    package mutating func begin(_ number: UInt64) { states[number] = .isUnderWay }

    /// - Parameter digest: `nil` if there is no content or nothing was recorded.
    mutating func end(_ number: UInt64, _ digest: SHA256Digest?) {
        switch states[number] {
        case .isUnderWay?: states[number] = .known(digest)
        case .awaited(let line)?:
            states[number] = nil
            line(digest)
        case .known?, nil: break
        }
    }

    /// Calls `line` now, or when the exchange ends. Call it once for each exchange.
    mutating func tell(_ number: UInt64, _ line: @escaping Line) {
        switch states[number] {
        case .isUnderWay?: states[number] = .awaited(line)
        case .known(let digest)?:
            states[number] = nil
            line(digest)
        case .awaited?, nil: line(nil)
        }
    }

    /// Ends all exchanges in flight without a digest.
    mutating func endAll() {
        for number in states.keys { end(number, nil) }
    }
}
