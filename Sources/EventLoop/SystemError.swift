import Glibc

/// A system call that failed where the caller can do something about it.
package struct SystemError: Error, Equatable, Sendable {
    /// The call, for messages.
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
    /// What failed and why, in the system's words.
    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
