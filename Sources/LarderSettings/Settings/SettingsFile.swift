import CommandSupport
import ProxyPolicy

/// Reads a settings file.
enum SettingsFile {
    /// - Parameter number: the file's number, as in `SettingsPlace.file`.
    static func node(at path: String, number: Int = 0, mayBePipe: Bool = false) throws(SettingsProblems) -> SettingsNode {
        func problem(_ message: String) -> SettingsProblems {
            var problems = SettingsProblems()
            problems.add(message, path: "", at: .none)
            return problems
        }
        let bytes: [UInt8]
        do throws(LocalFile.Unreadable) {
            bytes = try LocalFile.bytes(at: path, atMost: YAMLReader.lengthLimit, mayBePipe: mayBePipe)
        } catch {
            throw problem(error.reason)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw problem("the file is not UTF-8") }
        return try YAMLReader.read(text, file: number)
    }
}
