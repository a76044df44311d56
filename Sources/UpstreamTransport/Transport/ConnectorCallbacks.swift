import CLarderCurl
import EventLoop
import Glibc

// libcurl's callbacks, always on the loop's thread and from within a call of the connector.

func connectorWatchesSocket(
    _ easy: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t, _ what: Int32, _ connector: UnsafeMutableRawPointer?,
    _ socket: UnsafeMutableRawPointer?
) -> Int32 {
    guard let connector else { return 0 }
    Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().watch(descriptor, what)
    return 0
}

func connectorSetsTimer(_ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ connector: UnsafeMutableRawPointer?) -> Int32 {
    guard let connector else { return 0 }
    Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().setTimer(milliseconds: milliseconds)
    return 0
}

func connectorOpensSocket(
    _ attempt: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let attempt, let address else { return -1 }
    return Unmanaged<CurlAttempt>.fromOpaque(attempt).takeUnretainedValue().openSocket(address)
}

func connectorClosesSocket(_ connector: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let connector, Unmanaged<Connector>.fromOpaque(connector).takeUnretainedValue().keptDescriptor == descriptor { return 0 }
    return close(descriptor)
}

/// A socket that libcurl wants to watch.
final class WatchedSocket: EventHandler {
    private weak var connector: Connector?
    private let descriptor: Int32
    var registration: Registration!

    init(_ connector: Connector, _ descriptor: Int32) {
        self.connector = connector
        self.descriptor = descriptor
    }

    func ready(_ events: ReadyEvents) {
        var bits: Int32 = 0
        if events.isReadable || events.contains(.hungUp) { bits |= CURL_CSELECT_IN }
        if events.isWritable { bits |= CURL_CSELECT_OUT }
        if events.contains(.failed) { bits |= CURL_CSELECT_ERR }
        connector?.act(descriptor, bits)
    }
}

final class ConnectorTimer: TimerHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func deadlinePassed(_ timer: TimerID) { connector?.kick() }
}

final class CurlWorkTimer: TimerHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func deadlinePassed(_ timer: TimerID) { connector?.nudge() }
}

final class CurlWaitBatch: BatchHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func batchEnded() { connector?.beginWaiting() }
}

final class CurlActionBatch: BatchHandler {
    private weak var connector: Connector?
    init(_ connector: Connector) { self.connector = connector }
    func batchEnded() { connector?.kick() }
}
