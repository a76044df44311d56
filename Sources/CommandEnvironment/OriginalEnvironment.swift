import CommandSupport
import TextCoding

/// The variables as they were before a Larder put files of its own in the place of their user's. What these files begin with is the
/// user's, however often variables are set on top of each other: beside them stands what they took the place of.
package struct OriginalEnvironment {
    /// Those that there are, and those of files as their user has set them.
    package let values: [String: String]

    private static let files: [(name: String, place: @Sendable (ClientFiles) -> String)] = [
        ("WGETRC", { $0.wgetSettings }), ("APT_CONFIG", { $0.aptSettings }), ("SSL_CERT_FILE", { $0.bundle }),
    ]
    private static let lengthLimit = 1 << 16

    /// - Parameter files: those that are about to be written, which do not begin with themselves.
    package init(_ given: [String: String], behind files: ClientFiles) {
        var values = given
        for (name, place) in Self.files {
            guard let path = given[name] else { continue }
            let former = Self.former(path, of: name, place)
            values[name] = former == place(files) ? nil : former
        }
        self.values = values
    }

    /// What is remembered beside the files.
    var text: [UInt8] {
        let members = Self.files.compactMap { file in values[file.name].map { (file.name, JSONText.string($0)) } }
        return Array("\(JSONText.object(members).written())\n".utf8)
    }

    /// - Returns: `nil` where a Larder's file stands, and there was none before.
    private static func former(_ path: String, of name: String, _ place: (ClientFiles) -> String) -> String? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        let files = ClientFiles(folder: String(decoding: path.utf8[..<slash], as: UTF8.self))
        guard place(files) == path else { return path }
        do throws(LocalFile.Unreadable) {
            let octets = try LocalFile.bytes(at: files.former, atMost: lengthLimit)
            return JSONAnswer(String(decoding: octets, as: UTF8.self))[name] as? String
        } catch { return path }
    }
}
