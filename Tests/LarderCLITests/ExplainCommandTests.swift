import Foundation
import TestSupport
import Testing

@Suite("larder explain")
struct ExplainCommandTests {
    private func explain(_ arguments: String...) throws -> CommandLineTests.Outcome { try explain(arguments) }

    private func explain(_ arguments: [String]) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(
            ["explain"] + arguments + ["--set", "admin.socket=off", "--set", "store.path=/nonexistent/store.sqlite"])
    }

    @Test(
        "Of a file saved with curl -D or curl -i, the last response is explained",
        arguments: [
            "HTTP/2 200 \r\ncache-control: max-age=60\r\n\r\n", "HTTP/2 200\ncache-control: max-age=60\n",
            "HTTP/1.1 301 Moved\r\nLocation: /b\r\n\r\nHTTP/3 200 \r\ncache-control: max-age=60\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nThe content.\n\nHTTP/1.1 no head\n",
        ])
    func judgesWhatCurlSaves(saved: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(saved, to: "head.txt")
        let outcome = try explain("--response", file, "http://example.test/")
        #expect(outcome.code == 0 && outcome.talk.isEmpty)
        #expect(outcome.output.contains("origin: the saved response, as if it arrived now: 200\n"))
        #expect(outcome.output.contains("storage: stored: lifetime 60 s (max-age)"))
    }

    @Test(
        "Input that cannot be explained gives the same error with and without a running Larder",
        arguments: ["text", "json"])
    func refusesAlike(output: String) throws {
        let served = try ServeTests.Served()
        _ = try served.ports()
        for url in ["http://a:x/", "ftp://a/", "http://"] {
            let alone = try explain(url, "-o", output)
            let running = try CommandLineTests.larder(
                "explain", url, "-o", output, "--set", "admin.socket=\(served.folder.path)/admin.sock")
            #expect(alone.code == 2 && alone.output.isEmpty && alone.talk.hasPrefix("larder: The request's head is malformed: "))
            #expect(running.code == alone.code && running.output.isEmpty && running.talk == alone.talk)
        }
        let unknown = try CommandLineTests.larder(
            "explain", "--id", "0123456789abcdef", "-o", output, "--set", "admin.socket=\(served.folder.path)/admin.sock")
        #expect(
            unknown.code == 1
                && unknown.talk == "larder: Larder has no record of a request with this id; the request may be too old.\n")
    }

    @Test(
        "Usage errors exit with 2 and a reason",
        arguments: [
            (["/x"], "'/x' is not an absolute URL"), (["a.test/x"], "'a.test/x' is not an absolute URL"),
            (["0123456789abcdef"], "'0123456789abcdef' looks like the id of a request: give it with --id."),
            (["http://a.test/", "-H", ""], "A field is empty"),
            (["--id", "1", "--method", "GET"], "--id cannot be combined with other options for a request."),
            (["--id", "1", "http://a.test/"], "either a URL or --id"),
            (["http://a.test/", "--response", "/dev/null"], "/dev/null does not contain the head of a response"),
        ])
    func refusesWrongUsage(arguments: [String], sentence: String) throws {
        let outcome = try explain(arguments)
        #expect(outcome.code == 2 && outcome.output.isEmpty && outcome.talk.contains(sentence))
    }

    @Test("A content and a saved response that are too long together are refused with the limit")
    func limitsWhatIsGiven() throws {
        let folder = try TemporaryFolder()
        let content = try folder.write(String(repeating: "x", count: 131_000), to: "content")
        let lines = String(repeating: "X: \(String(repeating: "x", count: 996))\r\n", count: 140)
        let saved = try folder.write("HTTP/1.1 200 OK\r\n\(lines)\r\n", to: "saved")
        let outcome = try explain(["--method", "POST", "--data", "@\(content)", "--response", saved, "http://a.test/"])
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.talk.contains("the request, its content and the saved response have more than 262144 bytes together"))
    }

    @Test("A request that the proxy would refuse is explained as refused, with the limits that apply")
    func foretellsRefusals() throws {
        let framing = try explain("-H", "Content-Length: 5,6", "http://example.test/")
        #expect(framing.code == 0 && framing.output.contains("answer: 400, failed"))
        let long = try explain("http://example.test/\(String(repeating: "x", count: 100))", "--set", "limits.request_line=100")
        #expect(long.code == 0 && long.output.contains("answer: 414, failed"))
    }

    @Test("With -c or --set the given settings apply, even beside a running Larder, and the output says which settings it uses")
    func usesTheGivenSettings() throws {
        let served = try ServeTests.Served()
        _ = try served.ports()
        let socket = "\(served.folder.path)/admin.sock"
        let file = try served.folder.write(
            """
            admin: {socket: \(socket)}
            store: {path: ":memory:"}
            rules: [{name: closed, match: {host: example.test}, deny: {}}]
            """, to: "other.yaml")
        let mine = try CommandLineTests.larder("explain", "-c", file, "http://example.test/")
        #expect(mine.code == 0 && mine.output.contains("answer: 403, denied"), "\(mine)")
        #expect(mine.talk == "larder: this explanation uses the settings of this command, not those of the running Larder\n")
        let set = try CommandLineTests.larder(
            "explain", "http://example.test/", "--set", "admin.socket=\(socket)", "--set", "store.path=/nonexistent/store.sqlite",
            "--set",
            "rules=[{name: closed, deny: {}}]")
        #expect(set.output.contains("answer: 403, denied"), "\(set)")
        for named in [["--socket", socket], ["--set", "admin.socket=\(socket)"]] {
            let its = try CommandLineTests.larder(["explain", "-c", file, "http://example.test/"] + named)
            #expect(its.code == 0 && its.output.contains("rules: no rule matches"), "\(its)")
            #expect(its.talk == "larder: this explanation uses the settings of the running Larder, not \(file)\n")
        }
    }

    @Test("Without a running Larder the step trust names the policy that would verify the server, or why it is not known")
    func namesThePolicy() throws {
        let folder = try TemporaryFolder()
        let bundle = try folder.write(CertificateText.pem(TestAuthority().der), to: "root.pem")
        let judged = try explain(
            "https://example.test/", "--set", "tls.hosts={example.test: {anchors: {bundle: \(bundle)}}}")
        #expect(judged.code == 0 && judged.output.contains(": 1 anchor, no pins\n"), "\(judged)")
        let unknown = try explain(
            "https://example.test/", "--set", "tls.hosts={example.test: {anchors: {bundle: \(folder.path)/none}}}")
        #expect(unknown.code == 0 && unknown.output.contains("├─ trust: not examined: "), "\(unknown)")
        #expect(!judged.output.contains("accepts") && !unknown.output.contains("accepts"))
        let denied = try explain("https://example.test/", "--set", "tls.default=deny")
        #expect(denied.output.contains("no trust policy allows the host example.test"), "\(denied)")
        #expect(!denied.output.contains("tunnel:"), "\(denied)")
        let closed = try explain("https://example.test:8443/")
        #expect(
            closed.output.contains(
                "├─ tunnel: a client that sends CONNECT gets 403 (port_not_allowed), because tunnel.ports does not contain 8443"),
            "\(closed)")
    }
}
