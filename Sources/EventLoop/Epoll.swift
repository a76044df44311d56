import CLarderLinux
import Glibc

/// Waits for events with epoll. Nothing outside this file depends on epoll.
struct Epoll: ~Copyable {
    private let descriptor: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private static let batchLimit: Int32 = 256

    init() throws(SystemError) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        events = .allocate(capacity: Int(Self.batchLimit))
        if descriptor < 0 { throw SystemError("epoll_create1", code: errno) }
    }

    deinit {
        events.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }

    func add(_ target: Int32, _ interest: Interest, token: UInt64) throws(SystemError) {
        if larder_epoll_add(descriptor, target, Self.flags(interest), token) != 0 { throw SystemError("epoll_ctl", code: errno) }
    }

    func modify(_ target: Int32, _ interest: Interest, token: UInt64) {
        let result = larder_epoll_modify(descriptor, target, Self.flags(interest), token)
        precondition(result == 0, "a registered descriptor was closed behind the loop's back")
    }

    func remove(_ target: Int32) {
        // This call may fail: if a library has already closed its descriptor, the kernel no longer watches it.
        _ = larder_epoll_remove(descriptor, target)
    }

    /// Waits for events and returns their number; -1 waits without limit. A signal ends the wait with 0 events.
    func wait(milliseconds: Int32) -> Int {
        let count = epoll_wait(descriptor, events, Self.batchLimit, milliseconds)
        if count >= 0 { return Int(count) }
        precondition(errno == EINTR, "epoll_wait failed")
        return 0
    }

    @inline(__always)
    func token(at index: Int) -> UInt64 { larder_epoll_token(events, Int32(truncatingIfNeeded: index)) }

    @inline(__always)
    func ready(at index: Int) -> ReadyEvents {
        let flags = larder_epoll_events(events, Int32(truncatingIfNeeded: index))
        var ready = ReadyEvents()
        if flags & larder_epollin != 0 { ready.insert(.readable) }
        if flags & larder_epollout != 0 { ready.insert(.writable) }
        if flags & larder_epollrdhup != 0 { ready.insert(.peerClosed) }
        if flags & larder_epollhup != 0 { ready.insert(.hungUp) }
        if flags & larder_epollerr != 0 { ready.insert(.failed) }
        return ready
    }

    private static func flags(_ interest: Interest) -> UInt32 {
        var flags: UInt32 = 0
        if interest.contains(.read) { flags |= larder_epollin }
        if interest.contains(.write) { flags |= larder_epollout }
        if interest.contains(.peerClose) { flags |= larder_epollrdhup }
        if interest.contains(.edgeTriggered) { flags |= larder_epollet }
        return flags
    }
}
