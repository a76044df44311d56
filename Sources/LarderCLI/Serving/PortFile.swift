import Foundation

/// The file that `--port-file` writes the ports to: one line per listener, in order.
enum PortFile {
    /// The file is written under a temporary name and renamed, so that a program that waits for it finds it complete.
    static func write(_ ports: [UInt16], to path: String) throws {
        let text = ports.map { "\($0)\n" }.joined()
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }
}
