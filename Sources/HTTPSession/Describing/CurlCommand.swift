import HTTPMessage

extension HTTPSession {
    /// A line for a POSIX shell by which curl sends the same request, for people who look for a fault. Secrets are left out, so that it may
    /// stand in a log; `revealing` puts them in.
    /// - Returns: what is wrong with the request, for one that cannot be sent.
    public func curlCommand(for request: HTTPRequest, revealing: Bool = false) -> Result<String, SessionError> {
        do throws(SessionError) {
            return .success(CurlCommand(try PreparedRequest(request, of: self), revealing: revealing).text)
        } catch { return .failure(error) }
    }
}

/// Words of a command line, each quoted whole: nothing in a request can end its word.
private struct CurlCommand {
    private var words = ["curl", "--globoff", "--path-as-is", "--http1.1"]
    private var source = ""
    private let revealing: Bool

    var text: String { source + words.joined(separator: " ") }

    init(_ request: PreparedRequest, revealing: Bool) {
        self.revealing = revealing
        if request.method == .head { words.append("--head") } else { words += ["--request", Self.quoted(request.method.name)] }
        for (name, value) in request.fields { add(name, value) }
        add(request)
        words.append(Self.quoted(request.uri.description))
    }

    private mutating func add(_ name: String, _ value: String) {
        let shown = revealing || !Self.isSecret(name) ? value : "REDACTED"
        // curl leaves a field without a value out, and writes it for a semicolon.
        words += ["--header", Self.quoted(shown.isEmpty ? "\(name);" : "\(name): \(shown)")]
    }

    private mutating func add(_ request: PreparedRequest) {
        switch request.body {
        case .none: return
        case .octets(let octets):
            if let text = String(validating: octets, as: UTF8.self), !text.utf8.contains(0) {
                words += ["--data-raw", Self.quoted(text)]
            } else {
                source = "printf %s \(Self.quoted(Base64.encode(octets))) | base64 -d | "
                words += ["--data-binary", "@-"]
            }
        case .file(let path): words += ["--data-binary", Self.quoted("@" + path)]
        case .stream: words += ["--data-binary", "@-"]
        }
        // Which would be a form's.
        if !request.fields.contains(.contentType) { words += ["--header", Self.quoted("Content-Type:")] }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["authorization", "cookie", "token", "api-key", "apikey", "secret", "password"].contains { name.contains($0) }
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
