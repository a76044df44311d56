import Glibc

/// A failed system call that the caller can handle.
package struct SystemError: Error, Equatable, Sendable {
    /// The name of the call, for messages.
    package let call: StaticString
    /// The value of `errno`.
    package let code: Int32

    package init(_ call: StaticString, code: Int32) {
        self.call = call
        self.code = code
    }

    package static func == (left: SystemError, right: SystemError) -> Bool { left.code == right.code }
}

extension SystemError: CustomStringConvertible {
    /// The call, and the system's description of the error.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
