import Foundation

/// What the command says: data on standard output, talk on standard error, colour only where a person looks on.
enum Terminal {
    static func output(_ text: String) { write(Array(text.utf8)[...], to: 1) }

    static func output(bytes: ArraySlice<UInt8>) { write(bytes, to: 1) }

    static func talk(_ text: String) { write(Array(text.utf8)[...], to: 2) }

    static func exit(_ code: Int32) -> Never { Foundation.exit(code) }

    /// A short name's SGR code, where standard error is a terminal and `NO_COLOR` is not set (no-color.org).
    struct Style {
        let isColoured: Bool

        init(environment: [String: String] = ProcessInfo.processInfo.environment) {
            let refuses = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
            isColoured = isatty(2) == 1 && !refuses && environment["TERM"] != "dumb"
        }

        func bold(_ text: String) -> String { styled(text, "1") }
        func faint(_ text: String) -> String { styled(text, "2") }
        func green(_ text: String) -> String { styled(text, "32") }
        func yellow(_ text: String) -> String { styled(text, "33") }

        private func styled(_ text: String, _ code: String) -> String {
            isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
    }

    /// Whole, or as much as the other end takes; a reader that has gone is no failure of ours.
    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var bytes = bytes
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
