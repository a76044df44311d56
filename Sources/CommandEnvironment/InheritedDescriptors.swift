import Foundation

/// The descriptors beyond the standard ones that this process inherited, for example a jobserver's, and passes on to its child. The child
/// gets none of this process's own descriptors, some of which libraries leave open across exec.
struct InheritedDescriptors {
    private let given: Set<Int32>

    /// The descriptors that are open now.
    init() { given = Set(Self.open.filter { fcntl($0, F_GETFD) == 0 }) }

    /// Sets close-on-exec on all others. These are this process's own, whatever their numbers: inherited ones may be above the limit, from
    /// before it was lowered.
    func keepOthersBack() {
        for descriptor in Self.open where !given.contains(descriptor) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Closes all but the standard ones: a socket of another network namespace would lead out of this one.
    static func closeAll() { for descriptor in open { close(descriptor) } }

    /// The kernel assigns the lowest free number.
    private static let usualLimit: Int32 = 4096

    /// If /proc is not available, a list that includes numbers that are not open.
    private static var open: [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        guard let names else { return Array(3..<usualLimit) }
        return names.compactMap { Int32($0) }.filter { $0 > 2 }
    }
}
