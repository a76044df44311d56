/// The events that a registration waits for. Level-triggered unless it contains `edgeTriggered`.
@frozen
@usableFromInline
package struct Interest: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable package static var read: Interest { Interest(rawValue: 1) }
    @inlinable package static var write: Interest { Interest(rawValue: 2) }
    /// Reports that the peer has shut down its sending side, even if nothing is read.
    @inlinable package static var peerClose: Interest { Interest(rawValue: 4) }
    @inlinable package static var edgeTriggered: Interest { Interest(rawValue: 8) }

    /// The interest of a newcomer: edge-triggered, so that the kernel reports each event once. It includes the peer's close, which may come
    /// in the same event as data.
    var ofNewcomer: Interest { contains(.read) ? union([.edgeTriggered, .peerClose]) : union(.edgeTriggered) }
}

/// The events for which a descriptor is ready. Errors and hang-ups are reported for every interest.
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

    /// There is data to read, or the end of the input.
    @inlinable package var isReadable: Bool { rawValue & 5 != 0 }
    /// Both directions are closed, or the connection failed; reported for every interest.
    @inlinable package var isBroken: Bool { rawValue & 24 != 0 }
    /// The peer has closed its sending side or the connection.
    @inlinable package var tellsOfEnd: Bool { rawValue & 28 != 0 }
    @inlinable package var isWritable: Bool { rawValue & 2 != 0 }
}

/// Is called when its descriptor is ready. The loop keeps the handler alive from `register` to `deregister`.
package protocol EventHandler: AnyObject {
    func ready(_ events: ReadyEvents)
}

/// One registration of a descriptor with a loop. A closed descriptor's number is reused; its generation is not.
package struct Registration: Equatable, Sendable {
    package let descriptor: Int32
    let generation: UInt32
}
