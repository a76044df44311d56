import CLinux
import Foundation
import Synchronization

/// Has this process take away what it made before a signal ends it. Programs that it begins get signals as they would without it.
package enum Interruption {
    private static let ends = [SIGTERM, SIGINT, SIGQUIT, SIGHUP]
    /// Where the handler writes, which may do little else.
    private static let pipeEnd = Atomic<Int32>(-1)

    /// Called once. Where there is no pipe to be had, signals end the process as before.
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
