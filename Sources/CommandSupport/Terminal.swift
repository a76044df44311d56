import Foundation

/// The command's output: data on standard output, messages on standard error, color only on a terminal.
package enum Terminal {
    /// Call this first: otherwise the next opened file would get the number of a closed standard descriptor, and messages would be written
    /// into that file. Writes to such a descriptor still fail.
    package static func holdStandardDescriptors() {
        // The replacement is opened in the wrong direction, so that descriptor 0 cannot be read, and descriptors 1 and 2 cannot be written.
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            let opened = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
            if opened >= 0, opened != descriptor { close(opened) }
        }
    }

    /// Ends the process if the write fails: a reader must not take partial output for complete output.
    package static func output(_ text: String) { output(bytes: Array(text.utf8)[...]) }

    package static func output(bytes: ArraySlice<UInt8>) {
        switch Descriptor.write(bytes, to: 1) {
        case 0: return
        // The reader has closed the pipe: exit as if the signal had ended the process.
        case EPIPE: exit(128 + SIGPIPE)
        case let code:
            talk("larder: cannot write to standard output: \(String(cString: strerror(code)))\n")
            exit(1)
        }
    }

    /// Ignores write errors: there is no other place to report them.
    package static func talk(_ text: String) { _ = Descriptor.write(Array(text.utf8)[...], to: 2) }

    package static func exit(_ code: Int32) -> Never { Foundation.exit(code) }

    /// SGR codes by short names, used if standard error is a terminal and `NO_COLOR` is not set (no-color.org).
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
