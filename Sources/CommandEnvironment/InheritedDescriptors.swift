import Foundation

/// The descriptors beyond the standard ones that this process was begun with, and that its child gets: a jobserver's, say. Of ours it
/// gets none, of which libraries leave some open for whoever is begun.
struct InheritedDescriptors {
    private let given: Set<Int32>

    /// As they are now.
    init() { given = Set(Self.open.filter { fcntl($0, F_GETFD) == 0 }) }

    /// Has all others closed in whatever is begun from here. They are ours, whatever their numbers: those that were given may stand
    /// above the limit, from before it was lowered.
    func keepOthersBack() {
        for descriptor in Self.open where !given.contains(descriptor) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }

    /// Closes all but the standard ones: what is open to another network leads out of this one.
    static func closeAll() { for descriptor in open { close(descriptor) } }

    /// The kernel gives out the lowest number that is free.
    private static let usualLimit: Int32 = 4096

    /// With some that are not, where the system does not tell.
    private static var open: [Int32] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        guard let names else { return Array(3..<usualLimit) }
        return names.compactMap { Int32($0) }.filter { $0 > 2 }
    }
}
