import CLarderLinux
import Foundation
import TestSupport

/// Sends a body on a thread of its own while the test reads.
final class Sender: Sendable {
    private let done = Gate()

    init(_ descriptor: Int32, _ body: PatternedBody) {
        let thread = Thread { [done] in
            var sent = 0
            while sent < body.length {
                let step = body.withPiece(at: sent) { send(descriptor, $0.baseAddress, $0.count, larder_msg_nosignal) }
                if step <= 0 { break }
                sent += step
            }
            done.open()
        }
        thread.start()
    }

    func wait() { done.wait() }
}
