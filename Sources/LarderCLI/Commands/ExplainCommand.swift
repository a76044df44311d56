import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import PinTools
import ProxyAdmin
import ProxyCore
import ProxyPolicy
import Snapshots
import TextCoding

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Explain how Larder would handle a request now, or how it handled a past request.",
        discussion: """
            This command sends no request; --connect opens one TLS connection to the server. The command uses the rules and the \
            store of the running Larder. With -c or --set, or if Larder is not running, it uses your settings and the store's \
            file. --id explains a past request, by its id in the access log.

            Exit codes: 0 success; 1 Larder cannot explain the request, or (with --connect) the server cannot be reached; 2 wrong \
            usage; 5 a snapshot for --replay is damaged; 7 (with --connect) Larder rejects the server, or will reject it once its \
            pins are enforced.
            """)

    @Argument(help: "The URL of the request.")
    var url: String?

    @Option(help: ArgumentHelp("The request's method. The default is GET.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp("A request field, as 'Name: value'. Repeatable.", valueName: "field"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "The request's content, as text or @FILE, for rules that include the content in the cache key.", valueName: "content")
    )
    var data: String?

    @Option(help: ArgumentHelp("The client's address, for rules with `client`. The default is 127.0.0.1.", valueName: "address"))
    var client: String?

    @Option(help: ArgumentHelp("The client's user name, for rules with `user`. The default is none.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Use the response head in this file instead of a stored response.", valueName: "file"))
    var response: String?

    @Option(help: ArgumentHelp("Explain the past request with this id from the access log.", valueName: "id"))
    var id: String?

    @Flag(help: "Also connect to the server of an https URL, and verify it.")
    var connect = false

    @Flag(
        help:
            "Find the request in the snapshots of replay.layers or --layer, and show its recording or the nearest recordings."
    )
    var replay = false

    @Option(
        name: .long, help: ArgumentHelp("A snapshot for --replay, instead of the snapshots in the settings.", valueName: "file"))
    var layer: [String] = []

    @Option(help: ArgumentHelp("The project's key, for --replay.", valueName: "file"))
    var key: String?

    @OptionGroup var format: OutputOption

    @OptionGroup var options: RunningOptions

    func validate() throws {
        if (url == nil) == (id == nil) { throw ValidationError("Give either a URL or --id.") }
        if id != nil, method != nil || response != nil || data != nil || client != nil || user != nil || !header.isEmpty {
            throw ValidationError("--id cannot be combined with other options for a request.")
        }
        // The target of CONNECT is an authority, and the target of OPTIONS may be `*`, the server as a whole.
        if let url, url != "*", method != "CONNECT", !url.contains("://") {
            if url.utf8.count == 16, UInt64(url, radix: 16) != nil {
                throw ValidationError("'\(url)' looks like the id of a request: give it with --id.")
            }
            throw ValidationError("'\(printable(url))' is not an absolute URL, such as http://example.com/.")
        }
        if let client, IPAddress(client) == nil { throw ValidationError("'\(printable(client))' is not an IP address.") }
        if replay, id != nil || connect || response != nil || client != nil || user != nil {
            throw ValidationError("--replay cannot be combined with --id, --connect, --response, --client or --user.")
        }
        if !replay, !layer.isEmpty || key != nil { throw ValidationError("--layer and --key need --replay.") }
        if connect, authority == nil { throw ValidationError("--connect needs an https URL without a user name.") }
        if header.contains("") { throw ValidationError("A field is empty: -H takes 'Name: value'.") }
    }

    func run() throws {
        if let id {
            let wanted = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try RunningLarder.ask(
                try options.connect(), "GET", "/v1/traces?id=\(wanted)", form: format.output)
        }
        let content = try content()
        if replay { return try explainReplay(content) }
        let heads = try self.heads(content)
        guard heads.count <= Self.headsLimit else {
            Terminal.talk(
                "larder: the request, its content and the saved response have more than \(Self.headsLimit) bytes together\n")
            throw ExitCode.failure
        }
        if !connect, let path = options.namedSocket, let client = try? AdminClient(path: path) {
            return try ask(client, heads, content, nil)
        }
        let loaded = try options.load(trustFiles: connect ? TrustFiles() : nil)
        let server = try authority.flatMap { connect ? try PinCheck.judging([$0], loaded.settings).first : nil }
        if usesOwnSettings {
            if RunningLarder.isRunning(loaded) {
                Terminal.talk("larder: this explanation uses the settings of this command, not those of the running Larder\n")
            }
        } else if let (client, _) = try RunningLarder.find(loaded) {
            if let file = options.settings.config {
                Terminal.talk(
                    "larder: this explanation uses the settings of the running Larder, not \(printable(file, limit: 4096))\n")
            }
            return try ask(client, heads, content, server)
        }
        do {
            let explanation = try StoreAlone(loaded, judgesServers: !connect).explain(
                heads, contentLength: content?.count, from: sender)
            try tell(format.output == .text ? explanation.text : explanation.json.written() + "\n", server)
        } catch let fault as ExplainedHeads.Fault {
            Terminal.talk("larder: \(fault.sentence)\n")
            throw ExitCode(2)
        }
    }

    private func ask(_ client: AdminClient, _ heads: [UInt8], _ content: [UInt8]?, _ server: PinCheck?) throws {
        var explanation = ""
        try RunningLarder.ask(client, "POST", "/v1/explain" + query(content), body: heads, form: format.output) {
            explanation = $0
        }
        try tell(explanation, server)
    }

    /// The client that the explanation assumes for the request.
    private var sender: ClientFacts {
        ClientFacts(address: client.flatMap { IPAddress($0) } ?? .loopbackIPv4, user: Array((user ?? "").utf8))
    }

    /// The query of the request to a running Larder.
    private func query(_ content: [UInt8]?) -> String {
        let parameters = [("content", content.map { "\($0.count)" }), ("client", client), ("user", user)]
        let given = parameters.compactMap { name, value in
            value.map { "\(name)=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
        }
        return given.isEmpty ? "" : "?" + given.joined(separator: "&")
    }

    private func explainReplay(_ content: [UInt8]?) throws {
        guard let request = RequestToMatch(method: method ?? "GET", url: url ?? "", lines: header, content: content) else {
            Terminal.talk("larder: the request is malformed: give an absolute URL, and fields as 'Name: value'\n")
            throw ExitCode(2)
        }
        let settings = try options.load(trustFiles: layer.isEmpty || key == nil ? TrustFiles() : nil).settings.recordings
        var paths = layer.isEmpty ? settings.files : layer
        if paths.isEmpty {
            let recording = ProjectFolder.recording(of: ProjectFolder())
            if FileManager.default.fileExists(atPath: recording) { paths = [recording] }
        }
        if paths.isEmpty {
            Terminal.talk("larder: nothing to replay: replay.layers lists no snapshot; give one with --layer\n")
            throw ExitCode(2)
        }
        let asOf = RunningRecordings.asOf(settings.asOf)
        try SnapshotFiles.run {
            let key = try (key ?? settings.key).map(ProjectKeyFile.read)
            let explanation = try ReplayExplanation(request, paths: paths, key: key, asOf: asOf)
            Terminal.output(format.output == .text ? explanation.text : explanation.json)
        }
    }

    /// The server of an https URL.
    private var authority: NamedServer? {
        guard let url, let scheme = url.firstRange(of: "://"), url[..<scheme.lowerBound].lowercased() == "https" else {
            return nil
        }
        return NamedServer(argument: String(url[scheme.upperBound...].prefix { !"/?#".contains($0) }))
    }

    /// Whether this command makes the explanation, with its own settings. If the options name a running Larder, that Larder makes it, with
    /// its active settings.
    private var usesOwnSettings: Bool {
        let namesLarder = options.listen != nil || options.socket != nil
        return !namesLarder && options.settings.setsMoreThanTheSocket
    }

    /// Prints the explanation and, in the same form, the result of checking the server.
    /// - Throws: the exit code of `larder pins check`, if the server failed the check.
    private func tell(_ explanation: String, _ server: PinCheck?) throws {
        guard let server else { return Terminal.output(explanation) }
        switch format.output {
        case .text: Terminal.output(explanation + server.text)
        case .json:
            let end = explanation.lastIndex(of: "}") ?? explanation.endIndex
            let members = explanation[..<end].reversed().drop(while: \.isWhitespace).reversed()
            Terminal.output(String(members) + ",\n  \"server\": \(server.json.written(indentation: 1))\n}\n")
        }
        let code = PinCheckReport(checks: [server], isStrict: false).exitCode
        if code != 0 { throw ExitCode(code) }
    }

    /// The request's head as a client would send it to the proxy, followed by the head of the saved response.
    private func heads(_ content: [UInt8]?) throws -> [UInt8] {
        let target =
            (url ?? "").split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init) ?? ""
        let host = target.components(separatedBy: "://").dropFirst().first?.prefix { !"/?".contains($0) } ?? ""
        var lines = ["\(method ?? "GET") \(target) HTTP/1.1"]
        if !header.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: \(host)") }
        lines += header
        if let content, !header.contains(where: { $0.lowercased().hasPrefix("content-length:") }) {
            lines.append("Content-Length: \(content.count)")
        }
        guard !lines.contains(where: { $0.contains("\r") || $0.contains("\n") }) else {
            Terminal.talk("larder: a field must be on one line\n")
            throw ExitCode(2)
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (content ?? []) + (try savedHead())
    }

    private func content() throws -> [UInt8]? {
        guard let data else { return nil }
        guard data.hasPrefix("@") else { return Array(data.utf8) }
        let path = String(data.dropFirst())
        guard let handle = FileHandle(forReadingAtPath: path), let read = Self.read(handle, atMost: Self.contentLimit + 1) else {
            Terminal.talk("larder: cannot read \(printable(path, limit: 4096))\n")
            throw ExitCode.failure
        }
        guard read.count <= Self.contentLimit else {
            Terminal.talk("larder: \(printable(path, limit: 4096)) is longer than \(Self.contentLimit) bytes\n")
            throw ExitCode.failure
        }
        return Array(read)
    }

    /// - Returns: `nil` if the file cannot be read.
    private static func read(_ handle: FileHandle, atMost count: Int) -> Data? {
        // `FileHandle.read` returns `nil` at the end of the file.
        try? handle.read(upToCount: count) ?? Data()
    }

    /// The maximum length of content, in bytes: twice the longest content that a cache key can contain. So content that is too
    /// long for a key can be explained too.
    private static let contentLimit = 2 * ProxyLimits().keyedBodyLength

    /// The longest body that a running Larder accepts.
    private static let headsLimit = AdminLimits().bodyLength

    /// The file's last head, converted to HTTP/1.1 from any line endings and any HTTP version: `curl -D` writes one head for each response,
    /// including intermediate ones.
    private func savedHead() throws -> [UInt8] {
        guard let response else { return [] }
        guard let handle = FileHandle(forReadingAtPath: response), let data = Self.read(handle, atMost: Self.savedLimit) else {
            Terminal.talk("larder: cannot read \(printable(response, limit: 4096))\n")
            throw ExitCode.failure
        }
        var last: [[UInt8]] = []
        var head: [[UInt8]] = []
        for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let octets = Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            guard octets.isEmpty else {
                // Content may follow the heads.
                if head.isEmpty, !last.isEmpty, !octets.starts(with: "HTTP/".utf8) { break }
                head.append(head.isEmpty ? Self.statusLine(octets) : octets)
                continue
            }
            if !head.isEmpty { last = head }
            head = []
        }
        if !head.isEmpty { last = head }
        guard !last.isEmpty else {
            Terminal.talk("larder: \(printable(response, limit: 4096)) does not contain the head of a response\n")
            throw ExitCode(2)
        }
        return Array(last.joined(separator: [0x0D, 0x0A])) + [0x0D, 0x0A, 0x0D, 0x0A]
    }

    /// Converts `HTTP/2 200` to HTTP/1.1.
    private static func statusLine(_ line: [UInt8]) -> [UInt8] {
        let parts = line.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0"].contains(String(decoding: parts[0], as: UTF8.self))
        else {
            return line
        }
        return Array("HTTP/1.1 ".utf8) + parts[1] + (parts[1].contains(0x20) ? [] : [0x20])
    }

    private static let savedLimit = 256 * 1024
}
