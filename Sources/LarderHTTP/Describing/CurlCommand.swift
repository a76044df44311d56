import HTTPMessage
import TextCoding

extension HTTPSession {
    /// A POSIX shell command that sends the same request with curl, for debugging. Secrets are left out, so that the command
    /// can be logged, unless `revealing` is `true`.
    /// - Returns: the command, or an error if the request is invalid.
    public func curlCommand(for request: SessionRequest, revealing: Bool = false) -> Result<String, SessionError> {
        do throws(SessionError) {
            return .success(CurlCommand(try PreparedRequest(request, of: self), revealing: revealing).text)
        } catch { return .failure(error) }
    }
}

/// The words of a command line. Each word from the request is quoted, so that the shell cannot split or interpret it.
private struct CurlCommand {
    private var words = ["curl", "--globoff", "--path-as-is", "--http1.1"]
    private var source = ""
    private let revealing: Bool

    var text: String { source + words.joined(separator: " ") }

    init(_ request: PreparedRequest, revealing: Bool) {
        self.revealing = revealing
        words += request.method == .head ? ["--head"] : ["--request", ShellWord.quoted(request.method.name)]
        for (name, value) in request.fields { add(name, value) }
        add(request)
        words.append(ShellWord.quoted(request.uri.description))
    }

    private mutating func add(_ name: String, _ value: String) {
        let shown = revealing || !Self.isSecret(name) ? value : "REDACTED"
        // curl drops a field without a value, unless a semicolon follows its name.
        words += ["--header", ShellWord.quoted(shown.isEmpty ? "\(name);" : "\(name): \(shown)")]
    }

    private mutating func add(_ request: PreparedRequest) {
        switch request.body {
        case .none: return
        case .octets(let octets):
            if let text = String(validating: octets, as: UTF8.self), !text.utf8.contains(0) {
                words += ["--data-raw", ShellWord.quoted(text)]
            } else {
                source = "printf %s \(ShellWord.quoted(Base64.encode(octets))) | base64 -d | "
                words += ["--data-binary", "@-"]
            }
        case .file(let path): words += ["--data-binary", ShellWord.quoted("@" + path)]
        case .stream: words += ["--data-binary", "@-"]
        }
        // Without this option, curl would send the Content-Type of a form.
        if !request.fields.contains(.contentType) { words += ["--header", ShellWord.quoted("Content-Type:")] }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["authorization", "cookie", "token", "api-key", "apikey", "secret", "password"].contains { name.contains($0) }
    }
}
