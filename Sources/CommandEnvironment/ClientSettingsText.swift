import CommandSupport
import Foundation

/// The content of the settings files for wget, apt and PHP. No format can express every path. A line that the program would misread is
/// left out.
struct ClientSettingsText {
    let environment: ClientEnvironment
    /// The variables as the user set them.
    let given: [String: String]

    /// wget reads the file that `WGETRC` names in place of the user's own file, so this file begins with a copy of that one.
    var wget: [UInt8] {
        var lines = ["use_proxy = on"]
        for name in ["http_proxy", "https_proxy"] { lines.append("\(name) = \(environment.proxyURL)") }
        lines.append("no_proxy =")
        if environment.carriesTrust { lines.append("ca_certificate = \(environment.files.bundle)") }
        return userWgetSettings + Self.text(of: lines)
    }

    /// The user's settings for wget, from the file that `WGETRC` names, else from the default file.
    private var userWgetSettings: [UInt8] {
        for path in [given["WGETRC"], given["HOME"].map { "\($0)/.wgetrc" }].compactMap({ $0 }) {
            do throws(LocalFile.Unreadable) {
                let octets = try LocalFile.bytes(at: path, atMost: Self.lengthLimit)
                return octets.isEmpty || octets.last == UInt8(ascii: "\n") ? octets : octets + [UInt8(ascii: "\n")]
            } catch { continue }
        }
        return []
    }

    /// The longest settings file of the user that is copied, in bytes.
    private static let lengthLimit = 1 << 20

    var apt: [UInt8] {
        var lines: [String] = []
        if let before = given["APT_CONFIG"], !before.isEmpty, access(before, R_OK) == 0, Self.isWritable(before) {
            lines.append("#include \"\(before)\";")
        }
        return Self.text(of: lines + aptLines)
    }

    var aptLines: [String] {
        var lines = ["http", "https"].map { "Acquire::\($0)::Proxy \"\(environment.proxyURL)\";" }
        let bundle = environment.files.bundle
        if environment.carriesTrust, Self.isWritable(bundle) { lines.append("Acquire::https::CaInfo \"\(bundle)\";") }
        return lines
    }

    /// PHP does not interpret a value within single quotes.
    var php: [UInt8] {
        let bundle = environment.files.bundle
        if bundle.holds(anyOf: "'\n") { return [] }
        return Self.text(of: ["curl.cainfo", "openssl.cafile"].map { "\($0) = '\(bundle)'" })
    }

    /// Whether the path can be written within apt's quotes.
    private static func isWritable(_ path: String) -> Bool { !path.holds(anyOf: "\"\n") }

    private static func text(of lines: [String]) -> [UInt8] {
        Array(lines.filter { !$0.holds(anyOf: "\n") }.map { "\($0)\n" }.joined().utf8)
    }
}
