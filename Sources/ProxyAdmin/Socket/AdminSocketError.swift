import EventLoop
import TextCoding

/// Why there is no admin socket at a path.
package enum AdminSocketError: Error, Sendable, CustomStringConvertible {
    /// A running Larder, or another program, answers there.
    case inUse(path: String)
    /// What stands there is no socket, and is not ours to remove.
    case notASocket(path: String)
    /// The kernel takes only so many bytes.
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
