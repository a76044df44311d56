import CertificateAuthority
import LarderSettings
import ServerTrust

/// The environment variables for programs that use a Larder.
package struct ClientEnvironment {
    package let proxy: ListenAddress
    package let files: ClientFiles
    /// Whether programs must trust certificates beyond the system's. If not, the variables for CA certificates stay unchanged.
    package let carriesTrust: Bool
    /// The root certificate of a running Larder's CA; `nil` if it has none.
    package let root: Certificate?

    package init(proxy: ListenAddress, files: ClientFiles, carriesTrust: Bool, root: Certificate? = nil) {
        self.proxy = proxy
        self.files = files
        self.carriesTrust = carriesTrust
        self.root = root
    }

    package var proxyURL: String { "http://\(proxy)" }

    /// - Parameter given: the existing variables.
    /// - Returns: the variables to set, in the table's order.
    func variables(over given: [String: String]) -> [(name: String, value: String)] {
        ClientVariable.all.compactMap { variable in
            if variable.meaning.isOfTrust, !carriesTrust { return nil }
            return value(of: variable.meaning, over: given[variable.name]).map { (variable.name, $0) }
        }
    }

    /// The variables to set, as a dictionary.
    package func values(over given: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: variables(over: given).map { ($0.name, $0.value) })
    }

    /// - Returns: `nil` to leave the variable unchanged.
    private func value(of meaning: ClientVariable.Meaning, over given: String?) -> String? {
        switch meaning {
        case .proxy: proxyURL
        case .proxyAddress: "\(proxy)"
        case .nothing: ""
        case .constant(let value): value
        case .bundle: files.bundle
        case .replacedBundle: given.flatMap { $0.isEmpty ? nil : files.bundle }
        case .additions: files.additions
        case .javaOptions: Self.joined(given, javaOptions)
        case .wgetSettings: files.wgetSettings
        case .aptSettings: files.aptSettings
        case .phpFolders: phpFolders(given)
        }
    }

    /// In the list of folders, an empty part means the folder that PHP was built with, and so does an unset variable. An empty variable
    /// means no folder.
    private func phpFolders(_ given: String?) -> String? {
        // Colons separate folders and cannot be escaped.
        if files.folder.contains(":") { return nil }
        guard let given else { return ":\(files.folder)" }
        if given.isEmpty { return files.folder }
        let others = given.split(separator: ":", omittingEmptySubsequences: false).map(String.init).filter { $0 != files.folder }
        return (others + [files.folder]).joined(separator: ":")
    }

    /// Adds Larder's options once, even if the variables are set repeatedly: the options of an earlier Larder are removed.
    private static func joined(_ given: String?, _ ours: String) -> String {
        let others = (given ?? "").replacing(JavaProperty.joinedBefore, with: "")
        return others.utf8.allSatisfy { $0 <= UInt8(ascii: " ") } ? ours : "\(others) \(ours)"
    }

    private var javaOptions: String {
        var options = JavaProperty.all(proxy: proxy).map { "-D\($0.name)=\($0.value)" }
        if carriesTrust {
            options += JavaProperty.trust(files).map { "-D\($0.name)=\(JavaProperty.quoted($0.value))" }
        }
        return options.joined(separator: " ")
    }
}

/// A Java system property.
struct JavaProperty {
    let name: String
    let value: String

    /// By default Java bypasses the proxy for this machine's own names. An empty list of exceptions prevents that. Maven's own client
    /// uses these properties only on request.
    static func all(proxy: ListenAddress) -> [JavaProperty] {
        let host = "\(proxy.address)"
        return [
            JavaProperty(name: "http.proxyHost", value: host), JavaProperty(name: "http.proxyPort", value: "\(proxy.port)"),
            JavaProperty(name: "https.proxyHost", value: host), JavaProperty(name: "https.proxyPort", value: "\(proxy.port)"),
            JavaProperty(name: "http.nonProxyHosts", value: ""),
            JavaProperty(name: "aether.connector.http.useSystemProperties", value: "true"),
        ]
    }

    static func trust(_ files: ClientFiles) -> [JavaProperty] {
        [
            JavaProperty(name: "javax.net.ssl.trustStore", value: files.javaStore),
            JavaProperty(name: "javax.net.ssl.trustStoreType", value: "PKCS12"),
            JavaProperty(name: "javax.net.ssl.trustStorePassword", value: TrustStoreArchive.usualPassword),
        ]
    }

    /// Matches all options that a Larder, at any address, has added to `JAVA_TOOL_OPTIONS`.
    static var joinedBefore: Regex<Substring> {
        #/
        \x20?-Dhttp\.proxyHost=\S+ \x20-Dhttp\.proxyPort=\d+ \x20-Dhttps\.proxyHost=\S+ \x20-Dhttps\.proxyPort=\d+
        \x20-Dhttp\.nonProxyHosts= \x20-Daether\.connector\.http\.useSystemProperties=true
        (?:
            \x20-Djavax\.net\.ssl\.trustStore=.*? \x20-Djavax\.net\.ssl\.trustStoreType=PKCS12
            \x20-Djavax\.net\.ssl\.trustStorePassword=changeit
        )?
        /#.dotMatchesNewlines().matchingSemantics(.unicodeScalar)
    }

    /// Quotes for `JAVA_TOOL_OPTIONS`, where unquoted blanks separate options and escapes do not exist.
    static func quoted(_ value: String) -> String {
        let isPlain = !value.utf8.contains { $0 <= UInt8(ascii: " ") || $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") }
        if isPlain { return value }
        return value.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "'\(String($0))'" }.joined(separator: "\"'\"")
    }
}
