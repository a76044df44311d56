import EventLoop

/// The kernel would not be watched.
public struct ReachabilityError: Error, Equatable, Sendable {
    /// The value of `errno`.
    public let code: Int32
    /// What failed and why, in the system's words.
    public let description: String

    init(_ error: SystemError) {
        code = error.code
        description = error.description
    }

    public static func == (left: ReachabilityError, right: ReachabilityError) -> Bool { left.code == right.code }
}

extension ReachabilityError: CustomStringConvertible {}
