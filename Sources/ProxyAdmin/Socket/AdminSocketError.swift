import EventLoop
import TextCoding

/// Why an admin socket cannot be made at a path.
package enum AdminSocketError: Error, Sendable, CustomStringConvertible {
    /// A running Larder, or another program, accepts connections at the path.
    case inUse(path: String)
    /// The file at the path is not a socket, so Larder does not remove it.
    case notASocket(path: String)
    /// The kernel limits the length of the path.
    case pathTooLong(path: String)
    case failed(SystemError, path: String)

    package var description: String {
        switch self {
        case .inUse(let path): "\(printable(path, limit: 4096)) is in use by another process"
        case .notASocket(let path): "\(printable(path, limit: 4096)) exists and is not a socket"
        case .pathTooLong(let path):
            "\(printable(path, limit: 4096)) is too long for a socket: at most \(UnixAddress.longestPath) bytes"
        case .failed(let error, let path): "\(printable(path, limit: 4096)): \(error)"
        }
    }
}
