/// What a registration waits for. Level-triggered unless `edgeTriggered` is there.
@frozen
@usableFromInline
package struct Interest: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var read: Interest { Interest(rawValue: 1) }
    @inlinable package static var write: Interest { Interest(rawValue: 2) }
    /// Reports a peer that has shut down its sending side, even where nothing is read.
    @inlinable package static var peerClose: Interest { Interest(rawValue: 4) }
    @inlinable package static var edgeTriggered: Interest { Interest(rawValue: 8) }

    /// The kernel tells of each event once; of what comes with its peer's end in the same one, too.
    var ofNewcomer: Interest { contains(.read) ? union([.edgeTriggered, .peerClose]) : union(.edgeTriggered) }
}

/// What a descriptor is ready for. Errors and hang-ups are reported whatever the interest is.
@frozen
@usableFromInline
package struct ReadyEvents: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var readable: ReadyEvents { ReadyEvents(rawValue: 1) }
    @inlinable package static var writable: ReadyEvents { ReadyEvents(rawValue: 2) }
    @inlinable package static var peerClosed: ReadyEvents { ReadyEvents(rawValue: 4) }
    @inlinable package static var hungUp: ReadyEvents { ReadyEvents(rawValue: 8) }
    @inlinable package static var failed: ReadyEvents { ReadyEvents(rawValue: 16) }

    /// There is something to read, an end among that.
    @inlinable package var isReadable: Bool { rawValue & 5 != 0 }
    /// Both directions are down: reported whatever the interest is.
    @inlinable package var isBroken: Bool { rawValue & 24 != 0 }
    /// The peer sends no more, or is gone.
    @inlinable package var tellsOfEnd: Bool { rawValue & 28 != 0 }
    @inlinable package var isWritable: Bool { rawValue & 2 != 0 }
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
