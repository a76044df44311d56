import Foundation
import ProxyAdmin
import ProxyServer

/// The service manager that started this process, for example systemd. It can pass listening sockets (sd_listen_fds(3)) and receive
/// messages about the process's state (sd_notify(3)). Without the variables of these protocols, this value does nothing.
struct ServiceManager: Sendable {
    enum State {
        /// Larder serves; the text is for people.
        case ready(status: String)
        /// Larder reads its settings again. `ready` is sent afterwards, even if the settings are rejected.
        case reloading
        case stopping
    }

    /// The variables contradict the protocol.
    struct Problem: Error {
        let reason: String
    }

    /// No service manager.
    static let none = ServiceManager(sockets: [], receiver: nil)

    /// The listening sockets that the service manager passed, in its order.
    let sockets: [ListeningSocket]
    /// The service manager's socket for messages.
    private let receiver: UnixAddress?

    private static let firstDescriptor: Int32 = 3
    private static let socketLimit: Int32 = 64
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET"]

    private init(sockets: [ListeningSocket], receiver: UnixAddress?) {
        self.sockets = sockets
        self.receiver = receiver
    }

    /// Takes the passed sockets. Then removes the variables, so that no program that this process starts uses them. Call it before any
    /// other thread starts.
    init(startedWith environment: [String: String] = ProcessInfo.processInfo.environment) throws(Problem) {
        for name in Self.variables { unsetenv(name) }
        sockets = try Self.passedSockets(environment)
        guard let place = environment["NOTIFY_SOCKET"], !place.isEmpty else {
            receiver = nil
            return
        }
        guard let address = place.hasPrefix("@") ? UnixAddress(abstract: String(place.dropFirst())) : UnixAddress(path: place)
        else {
            throw Problem(reason: "NOTIFY_SOCKET is not the address of a Unix socket")
        }
        receiver = address
    }

    /// Sends the state. Does nothing without a receiver.
    /// - Returns: `false` if it could not be sent.
    @discardableResult
    func send(_ state: State) -> Bool {
        guard let receiver else { return true }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { Foundation.close(descriptor) }
        let message = Array(Self.message(state).utf8)
        // Never waits: a receiver that does not read must not stop this process.
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        return receiver.withAddress { sendto(descriptor, message, message.count, flags, $0, $1) == message.count ? 0 : -1 } == 0
    }

    private static func message(_ state: State) -> String {
        switch state {
        case .ready(let status): return "READY=1\nSTATUS=\(status)\n"
        case .reloading:
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            return "RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)\n"
        case .stopping: return "STOPPING=1\n"
        }
    }

    private static func passedSockets(_ environment: [String: String]) throws(Problem) -> [ListeningSocket] {
        // If `LISTEN_PID` names another process, the variables are inherited and not meant for this process.
        guard let process = environment["LISTEN_PID"], Int32(process) == getpid() else { return [] }
        guard let count = Int32(environment["LISTEN_FDS"] ?? ""), (0...socketLimit).contains(count) else {
            throw Problem(reason: "LISTEN_FDS is not a number from 0 to \(socketLimit)")
        }
        var sockets: [ListeningSocket] = []
        for descriptor in firstDescriptor..<(firstDescriptor + count) {
            guard listensForTCP(descriptor), fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
                fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, let socket = try? ListeningSocket(listening: descriptor)
            else { throw Problem(reason: "descriptor \(descriptor), which LISTEN_FDS includes, is not a listening TCP socket") }
            sockets.append(socket)
        }
        return sockets
    }

    private static func listensForTCP(_ descriptor: Int32) -> Bool {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
        }
        guard let family = option(SO_DOMAIN), family == AF_INET || family == AF_INET6 else { return false }
        return option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) && option(SO_PROTOCOL) == Int32(IPPROTO_TCP)
            && option(SO_ACCEPTCONN) == 1
    }
}
