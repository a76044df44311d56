import EventLoop

/// The kernel's network state cannot be watched.
public struct ReachabilityError: Error, Equatable, Sendable {
    /// The value of `errno`.
    public let code: Int32
    /// The operation that failed, and the system's reason.
    public let description: String

    init(_ error: SystemError) {
        code = error.code
        description = error.description
    }

    public static func == (left: ReachabilityError, right: ReachabilityError) -> Bool { left.code == right.code }
}

extension ReachabilityError: CustomStringConvertible {}
