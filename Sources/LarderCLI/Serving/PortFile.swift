import Foundation

/// The file in which `--port-file` asks for the ports: one line for each address listened on, in their order.
enum PortFile {
    /// Written beside it and moved there, so that whoever waits for the file finds it whole.
    static func write(_ ports: [UInt16], to path: String) throws {
        let text = ports.map { "\($0)\n" }.joined()
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }
}
