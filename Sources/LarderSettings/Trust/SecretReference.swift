import CommandSupport
import Foundation
import ProxyPolicy

/// A reference to a secret, for settings that need one: `${env:NAME}` or `${file:PATH}`. Settings never contain the secret itself.
enum SecretReference: Equatable, Sendable {
    case environment(name: String)
    case file(path: String)

    init?(_ text: String) {
        guard text.hasPrefix("${"), text.hasSuffix("}") else { return nil }
        let inside = text.dropFirst(2).dropLast()
        if inside.hasPrefix("env:"), inside.count > 4 {
            self = .environment(name: String(inside.dropFirst(4)))
        } else if inside.hasPrefix("file:"), inside.count > 5 {
            self = .file(path: String(inside.dropFirst(5)))
        } else {
            return nil
        }
    }

    /// - Returns: `nil` after a problem. The message never repeats the text, which may be the secret.
    static func read(_ cursor: SettingsCursor, problems: inout SettingsProblems) -> SecretReference? {
        guard case .scalar(let scalar) = cursor.node.value, let reference = SecretReference(scalar.text) else {
            cursor.report("expected `${env:NAME}` or `${file:PATH}`: do not put the secret itself here", to: &problems)
            return nil
        }
        return reference
    }

    /// The reference as written.
    var description: String {
        switch self {
        case .environment(let name): "${env:\(name)}"
        case .file(let path): "${file:\(path)}"
        }
    }

    /// The secret. If it is in a file, it is the file's first line.
    func bytes(_ environment: [String: String], from origin: SettingsReader.Origin) throws(LocalFile.Unreadable) -> [UInt8] {
        switch self {
        case .environment(let name):
            guard let value = environment[name] else { throw LocalFile.Unreadable(reason: "the variable is not set") }
            return Array(value.utf8)
        case .file(let path):
            let bytes = try LocalFile.secretBytes(at: origin.path(of: path), atMost: 4096)
            return Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
        }
    }
}
