import CertificateAuthority
import CommandEnvironment
import CommandSupport
import Foundation
import LarderSettings
import LocalCA
import ServerTrust
import TextCoding

/// Checks Larder's environment without contacting a running Larder.
package struct Diagnosis {
    /// The settings file that the user named.
    let file: String?
    /// The values of `--set`, each `name=value`.
    let assignments: [String]
    let environment: [String: String]

    package init(file: String?, assignments: [String], environment: [String: String]) {
        self.file = file
        self.assignments = assignments
        self.environment = environment
    }

    /// The command that corrects the proxy variables: the shell evaluates what `larder env` prints.
    static let environmentRemedy = "eval \"$(larder env)\""

    static func edit(_ file: String) -> String { "${EDITOR:-vi} \(ShellWord.of(file))" }

    /// - Returns: `nil` if no settings file is active.
    package static func edit(_ loaded: LoadedSettings) -> String? { loaded.file.map { edit($0) } }
}

extension Diagnosis {
    /// Checks the settings and the files that they name; the CA has its own finding.
    /// - Returns: the settings, even if files that they name have problems.
    package func settings() -> (finding: Finding, loaded: LoadedSettings?) {
        var sources = SettingsSources(file: file, assignments: assignments, environment: environment)
        // Reads the settings as `serve` does, but with a temporary CA instead of the user's.
        sources.trustFiles = TrustFiles(
            authority: try? LocalAuthority(making: .ofThisMachine(days: 1, constraint: nil), at: .now))
        let read = sources.load()
        if case .settings(let settings) = read.outcome {
            return (Self.finding(read), LoadedSettings(settings: settings, file: read.file, sources: sources))
        }
        sources.trustFiles = nil
        guard case .settings(let settings) = sources.load(isFirst: false).outcome else { return (Self.finding(read), nil) }
        return (Self.finding(read), LoadedSettings(settings: settings, file: read.file, sources: sources))
    }

    private static func finding(_ read: SettingsSources.Loaded) -> Finding {
        switch read.outcome {
        case .settings: return Finding("settings", .good, read.file ?? "no settings file; Larder uses the defaults")
        case .problems(let problems):
            let others = problems.count > 1 ? " (and \(problems.count - 1) more: larder config check)" : ""
            let place = problems.first.map(\.description) ?? "the settings cannot be read"
            return Finding("settings", .bad, place + others, remedy: read.file.map { edit($0) })
        }
    }

    /// Checks the proxy variables, and the hosts that they exclude.
    /// - Parameter running: the correct variables; `nil` if no Larder is running.
    package func variables(_ running: ClientEnvironment?) -> [Finding] {
        [proxyVariables(running), leftOut] + (running.map(trustVariables).map { [$0] } ?? [])
    }

    private func proxyVariables(_ running: ClientEnvironment?) -> Finding {
        let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        let set = names.filter { environment[$0]?.isEmpty == false }
        guard let running else {
            return Finding("proxy variables", .skipped, "Larder is not running")
        }
        let wrong = set.filter { !Self.leads(environment[$0] ?? "", to: running.proxy) }
        // Programs use `all_proxy` only for a scheme without a variable of its own.
        let isComplete = set.contains("http_proxy") && set.contains { $0.lowercased() == "https_proxy" }
        if !wrong.isEmpty {
            let isFallback = isComplete && wrong.allSatisfy { $0.lowercased() == "all_proxy" }
            let named = wrong.map { "\($0) is \(Self.withoutPassword(environment[$0] ?? ""))" }.joined(separator: ", ")
            return Finding(
                "proxy variables", isFallback ? .notable : .bad,
                "\(named), but Larder listens on \(running.proxyURL)"
                    + (isFallback ? "; programs use this variable only for schemes other than http and https" : ""),
                remedy: Self.environmentRemedy)
        }
        if !isComplete {
            let missing = ["http_proxy", "https_proxy"].filter { name in
                !set.contains { name == "http_proxy" ? $0 == name : $0.lowercased() == name }
            }
            return Finding(
                "proxy variables", .notable,
                set.isEmpty
                    ? "not set in this shell: programs started here bypass Larder"
                    : "\(missing.joined(separator: " and ")) not set in this shell: programs that read only these names bypass Larder",
                remedy: Self.environmentRemedy
            )
        }
        return Finding("proxy variables", .good, "set to \(running.proxyURL)")
    }

    /// Whether a variable's value is the URL of this proxy, or another spelling of it.
    private static func leads(_ value: String, to proxy: ListenAddress) -> Bool {
        let bare = value.lowercased().hasPrefix("http://") ? value.dropFirst("http://".count) : value[...]
        return ListenAddress(String(bare.hasSuffix("/") ? bare.dropLast() : bare))?.isSame(as: proxy) ?? false
    }

    /// A proxy's URL without user and password.
    private static func withoutPassword(_ proxy: String) -> String {
        guard let sign = proxy.unicodeScalars.lastIndex(of: "@") else { return proxy }
        let scheme = proxy.firstRange(of: "://").map { proxy[..<$0.upperBound] } ?? ""
        return "\(scheme)\(String(proxy.unicodeScalars[sign...].dropFirst()))"
    }

    private var leftOut: Finding {
        let found = ["no_proxy", "NO_PROXY"].compactMap { name in
            // A value of commas alone names no host.
            environment[name].flatMap { $0.allSatisfy { ", ".contains($0) } ? nil : "\(name)=\($0)" }
        }
        guard found.isEmpty else {
            return Finding(
                "NO_PROXY", .bad,
                "\(found.joined(separator: " ")): these hosts bypass Larder, so it applies no rules to their requests and stores none of their responses",
                remedy: "export NO_PROXY= no_proxy=")
        }
        return Finding(
            "NO_PROXY", .good,
            """
            NO_PROXY is empty or not set; even so, Go and Chromium bypass the proxy for localhost and 127.0.0.1. \
            Java bypasses it too, unless its own property http.nonProxyHosts is set to the empty string
            """
        )
    }

    private func trustVariables(_ running: ClientEnvironment) -> Finding {
        guard running.carriesTrust else {
            return Finding("trust variables", .good, "no trust variables are needed: Larder intercepts nothing")
        }
        let name = "SSL_CERT_FILE"
        guard let file = environment[name], !file.isEmpty else {
            return Finding(
                "trust variables", .notable,
                "\(name) is not set in this shell: programs started here trust Larder only if you have run "
                    + "larder ca install", remedy: Self.environmentRemedy)
        }
        guard let lacking = lacking(file, running) else {
            return Finding("trust variables", .good, "\(file) contains the CA certificates that programs need if they use Larder")
        }
        return Finding("trust variables", .bad, "\(name) is \(file), which lacks \(lacking)", remedy: Self.environmentRemedy)
    }

    /// The first certificate that is missing in a bundle; `nil` if the bundle contains all certificates that it should.
    private func lacking(_ bundle: String, _ running: ClientEnvironment) -> String? {
        // An unreadable file is treated as empty.
        let octets = (try? LocalFile.bytes(at: bundle, atMost: TrustFiles.bundleLimit)) ?? []
        let additions = (try? LocalFile.bytes(at: running.files.additions, atMost: 1 << 20)) ?? []
        let text = String(decoding: octets, as: UTF8.self)
        if let root = running.root, !text.contains(root.pem) { return "Larder's root certificate" }
        let wanted = Certificate.reading(pem: additions) ?? []
        if wanted.isEmpty { return "the certificates of the unreadable file \(running.files.additions)" }
        return wanted.first { !text.contains($0.pem) }.map {
            "the CA certificate \(printable($0.subject, limit: 512)) of your settings"
        }
    }
}
