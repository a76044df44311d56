/// What a registration waits for. Level-triggered unless `edgeTriggered` is there.
package struct Interest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let read = Interest(rawValue: 1)
    package static let write = Interest(rawValue: 2)
    /// Reports a peer that has shut down its sending side, even where nothing is read.
    package static let peerClose = Interest(rawValue: 4)
    package static let edgeTriggered = Interest(rawValue: 8)
}

/// What a descriptor is ready for. Errors and hang-ups are reported whatever the interest is.
package struct ReadyEvents: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let readable = ReadyEvents(rawValue: 1)
    package static let writable = ReadyEvents(rawValue: 2)
    package static let peerClosed = ReadyEvents(rawValue: 4)
    package static let hungUp = ReadyEvents(rawValue: 8)
    package static let failed = ReadyEvents(rawValue: 16)
}

/// Hears that its descriptor is ready. The loop keeps the handler alive from `register` to `deregister`.
package protocol EventHandler: AnyObject {
    func ready(_ events: ReadyEvents)
}

/// One stay of a descriptor in a loop. A descriptor's number is used again after it was closed; its generation is not.
package struct Registration: Equatable, Sendable {
    package let descriptor: Int32
    let generation: UInt32
}
