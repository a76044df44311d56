import Foundation

/// What the command says: data on standard output, talk on standard error, colour only where a person looks on.
package enum Terminal {
    /// First of all: a standard descriptor that is closed would become the next file that is opened, and what is said there would be
    /// written into that. A write to one of them fails as it did.
    package static func holdStandardDescriptors() {
        // Open for the other direction: 0 cannot be read, 1 and 2 cannot be written.
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            let opened = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
            if opened >= 0, opened != descriptor { close(opened) }
        }
    }

    /// Ends the process where it cannot be written: who reads half of it shall not take it for the whole.
    package static func output(_ text: String) { output(bytes: Array(text.utf8)[...]) }

    package static func output(bytes: ArraySlice<UInt8>) {
        switch Descriptor.write(bytes, to: 1) {
        case 0: return
        // The reader has seen enough: as it would be for a program that the signal ends.
        case EPIPE: exit(128 + SIGPIPE)
        case let code:
            talk("larder: cannot write to standard output: \(String(cString: strerror(code)))\n")
            exit(1)
        }
    }

    /// As much as the other end takes: there is nobody else to tell.
    package static func talk(_ text: String) { _ = Descriptor.write(Array(text.utf8)[...], to: 2) }

    package static func exit(_ code: Int32) -> Never { Foundation.exit(code) }

    /// A short name's SGR code, where standard error is a terminal and `NO_COLOR` is not set (no-color.org).
    package struct Style {
        package let isColoured: Bool

        package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
            let refuses = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
            isColoured = isatty(2) == 1 && !refuses && environment["TERM"] != "dumb"
        }

        package func bold(_ text: String) -> String { styled(text, "1") }
        package func faint(_ text: String) -> String { styled(text, "2") }
        package func green(_ text: String) -> String { styled(text, "32") }

        private func styled(_ text: String, _ code: String) -> String {
            isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
    }
}
