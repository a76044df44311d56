import CLarderLinux
import EventLoop
import Glibc

/// A network namespace for a test, which adds and breaks its links, addresses and routes with `ip`.
///
/// `inside` runs code on a thread that sees only this network, as do the threads that it starts, and their sockets. The namespace ends with
/// the last of these and this object.
package final class NetworkNamespace: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32

    /// Why namespaces cannot be made; `nil` if they can. A test then reports this and is skipped.
    package static let neededToMake: String? = {
        guard ipPath != nil else { return "needs the program ip (iproute2)" }
        do {
            try NetworkNamespace().ip("link add v0 type veth peer name v1")
            return nil
        } catch {
            return "needs to make network namespaces, as root or under `unshare -r`: \(error)"
        }
    }()

    package static var canBeMade: Bool { neededToMake == nil }

    package init() throws {
        descriptor = try Self.onThread { () throws(Failure) in
            guard unshare(larder_new_network) == 0 else {
                throw Failure(description: "unshare: \(String(cString: strerror(errno)))")
            }
            let descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Failure(description: "no /proc/thread-self/ns/net") }
            return descriptor
        }
    }

    deinit { close(descriptor) }

    /// Runs the body on a thread in this network, and waits for it.
    package func inside<Value>(_ body: () throws -> Value) throws -> Value {
        try withoutActuallyEscaping(body) { body in
            // The caller waits, so only one thread at a time uses this.
            nonisolated(unsafe) let body = body
            nonisolated(unsafe) var value: Value?
            try Self.onThread { [descriptor] in
                guard setns(descriptor, larder_new_network) == 0 else { throw Failure(description: "setns failed") }
                value = try body()
            }
            guard let value else { throw Failure(description: "the body said nothing") }
            return value
        }
    }

    /// Runs `ip` with each of these lines, in order.
    package func ip(_ lines: String...) throws {
        try inside {
            for line in lines {
                let arguments = line.split(separator: " ").map(String.init)
                guard try Self.run(["ip"] + arguments) == 0 else { throw Failure(description: "ip \(line) failed") }
            }
        }
    }

    /// Makes a link with two ends: `name` here, `peerName` in the other network. Both are down and have no address.
    package func connect(_ name: String, to other: NetworkNamespace, _ peerName: String) throws {
        try ip(
            "link add \(name) type veth peer name \(peerName)",
            "link set \(peerName) netns /proc/\(getpid())/fd/\(other.descriptor)")
    }

    // MARK: Parts

    private static let ipPath = (["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"] as [String]).first {
        access($0, X_OK) == 0
    }

    /// The child is in the network of the thread that starts it.
    private static func run(_ arguments: [String]) throws -> Int32 {
        guard let path = ipPath else { throw Failure(description: "no ip") }
        var strings: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for string in strings { free(string) } }
        var child = pid_t()
        guard posix_spawn(&child, path, nil, nil, &strings, larder_variables()) == 0 else {
            throw Failure(description: "no child")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value {
        let outcome = Outcome<Value>()
        var thread = pthread_t()
        let work = Unmanaged.passRetained(ThreadWork { outcome.result.withLock { $0 = Result { try body() } } })
        guard pthread_create(&thread, nil, runThreadWork, work.toOpaque()) == 0 else {
            work.release()
            throw Failure(description: "no thread")
        }
        pthread_join(thread, nil)
        guard let result = outcome.result.withLock({ $0 }) else { throw Failure(description: "the thread said nothing") }
        return try result.get()
    }
}

private final class Outcome<Value: Sendable>: Sendable {
    let result = Guarded<Result<Value, any Error>?>(nil)
}

private final class ThreadWork {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThreadWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadWork>.fromOpaque(argument).takeRetainedValue().body()
    return nil
}
