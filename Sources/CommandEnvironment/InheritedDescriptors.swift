import Foundation

/// The descriptors beyond the standard ones that this process inherited, for example a jobserver's, and passes on to its child. The child
/// gets none of this process's own descriptors, some of which libraries leave open across exec.
struct InheritedDescriptors {
    private let given: Set<Int32>

    /// The descriptors that are open now.
    init() { given = Set(Self.open.filter { fcntl($0, F_GETFD) == 0 }) }

    /// Sets close-on-exec on all descriptors that were not inherited. The numbers do not show which these are: an inherited descriptor
    /// can be above the limit, if the limit was lowered after that descriptor was opened.
    func keepOthersBack() {
        for descriptor in Self.open where !given.contains(descriptor) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Closes all descriptors but the standard ones: with a socket of another network namespace, the command could reach destinations
    /// outside its own namespace.
    static func closeAll() { for descriptor in open { close(descriptor) } }

    /// Descriptors are closed up to this number if /proc is not available. The kernel assigns the lowest free number, so few descriptors
    /// have higher numbers.
    private static let usualLimit: Int32 = 4096

    /// The numbers of the open descriptors. If /proc is not available, the list also has numbers that are not open.
    private static var open: [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        guard let names else { return Array(3..<usualLimit) }
        return names.compactMap { Int32($0) }.filter { $0 > 2 }
    }
}
