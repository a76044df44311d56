import CLinux
import Foundation

/// The descriptors beyond the standard ones that this process was begun with, and that its child gets: a jobserver's, say. Of ours it
/// gets none, of which libraries leave some open for whoever is begun.
struct GivenDescriptors {
    private let given: Set<Int32>

    /// As they are now.
    init() {
        // What cannot be seen is as good as none.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        given = Set(names.compactMap { Int32($0) }.filter { $0 > 2 && fcntl($0, F_GETFD) == 0 })
    }

    /// The kernel gives out the lowest number that is free: no more than these are ever ours.
    private static let ownLimit: Int32 = 4096

    /// Has all others closed in a child. What is not open is no error there.
    func closeOthers(_ actions: inout posix_spawn_file_actions_t) -> Int32 {
        let last = given.max() ?? 2
        for descriptor in 3..<max(3, min(last, Self.ownLimit)) where !given.contains(descriptor) {
            let code = posix_spawn_file_actions_addclose(&actions, descriptor)
            // Above the limit, where what was given may stand from before it was lowered: nothing of ours is there.
            if code == EBADF { return 0 }
            if code != 0 { return code }
        }
        let code = posix_spawn_file_actions_addclosefrom_np(&actions, last + 1)
        return code == EBADF ? 0 : code
    }
}
