import CLarderLinux
import Foundation
import Synchronization

/// Removes what this process created before a signal ends it. Programs that it starts get signals as usual.
package enum Interruption {
    private static let ends = [SIGTERM, SIGINT, SIGQUIT, SIGHUP]
    /// The descriptor that the signal handler writes to; a handler may call only a few functions (signal-safety(7)).
    private static let pipeEnd = Atomic<Int32>(-1)

    /// Call it once. If no pipe can be made, a signal still ends the process at once.
    package static func begin(_ cleanUp: @escaping @Sendable () -> Void) {
        var descriptors: [Int32] = [-1, -1]
        guard pipe2(&descriptors, O_CLOEXEC) == 0 else { return }
        let descriptor = descriptors[0]
        pipeEnd.store(descriptors[1], ordering: .releasing)
        Thread.detachNewThread {
            var number: UInt8 = 0
            while read(descriptor, &number, 1) < 0, errno == EINTR {}
            cleanUp()
            signal(Int32(number), SIG_DFL)
            kill(getpid(), Int32(number))
        }
        for number in ends {
            let before = signal(number) { number in
                let code = errno
                var octet = UInt8(truncatingIfNeeded: number)
                _ = write(Interruption.pipeEnd.load(ordering: .acquiring), &octet, 1)
                errno = code
            }
            let isIgnored = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
            if isIgnored { signal(number, SIG_IGN) }
        }
    }
}
