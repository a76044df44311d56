import CommandSupport
import TextCoding

/// The variables as they were before a Larder replaced the user's files by its own. Larder's files begin with the user's content, even if
/// the variables are set repeatedly: the names of the replaced files are saved beside them.
package struct OriginalEnvironment {
    /// The existing variables. Variables that name files have the values that the user set.
    package let values: [String: String]

    private static let files: [(name: String, place: @Sendable (ClientFiles) -> String)] = [
        ("WGETRC", { $0.wgetSettings }), ("APT_CONFIG", { $0.aptSettings }), ("SSL_CERT_FILE", { $0.bundle }),
    ]
    private static let lengthLimit = 1 << 16

    /// - Parameter files: the files that are about to be written. A variable that already names one of them is left out, so that no file
    ///   includes itself.
    package init(_ given: [String: String], behind files: ClientFiles) {
        var values = given
        for (name, place) in Self.files {
            guard let path = given[name] else { continue }
            let former = Self.former(path, of: name, place)
            values[name] = former == place(files) ? nil : former
        }
        self.values = values
    }

    /// The content of the file that saves the former values.
    var text: [UInt8] {
        let members = Self.files.compactMap { file in values[file.name].map { (file.name, JSONText.string($0)) } }
        return Array("\(JSONText.object(members).written())\n".utf8)
    }

    /// - Returns: `nil` if the path is a file of Larder and the variable had no former value.
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
