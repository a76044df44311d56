import ServerTrust

/// What the contents of recordings come to, for the log's lines that tell it: kept from when an exchange has ended until its line asks, or the line
/// is kept until then. Confined to the recording's thread.
package struct RecordedDigests {
    package typealias Line = @Sendable (SHA256Digest?) -> Void

    private enum State {
        case isUnderWay
        case known(SHA256Digest?)
        case awaited(Line)
    }

    private var states: [UInt64: State] = [:]

    /// A line will ask for what this exchange comes to.
    package mutating func begin(_ number: UInt64) { states[number] = .isUnderWay }

    /// - Parameter digest: `nil` where there is no content, and where nothing was recorded.
    mutating func end(_ number: UInt64, _ digest: SHA256Digest?) {
        switch states[number] {
        case .isUnderWay?: states[number] = .known(digest)
        case .awaited(let line)?:
            states[number] = nil
            line(digest)
        case .known?, nil: break
        }
    }

    /// Has the line written, at once or when the exchange has ended. Asked once for each.
    mutating func tell(_ number: UInt64, _ line: @escaping Line) {
        switch states[number] {
        case .isUnderWay?: states[number] = .awaited(line)
        case .known(let digest)?:
            states[number] = nil
            line(digest)
        case .awaited?, nil: line(nil)
        }
    }

    /// Nothing more comes of those that are under way.
    mutating func endAll() {
        for number in states.keys { end(number, nil) }
    }
}
