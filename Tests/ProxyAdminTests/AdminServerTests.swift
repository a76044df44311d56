import CLarderLinux
import Glibc
import HTTPMessage
import Synchronization
import TestSupport
import Testing

@testable import ProxyAdmin

@Suite("The admin socket (T05 to T08)")
struct AdminServerTests {
    /// A server with the test's routes, on a socket in a temporary folder.
    final class Served {
        let path: String
        private let folder: String
        private let server: AdminServer

        init(_ routes: [AdminRoute] = [], change: (inout AdminLimits) -> Void = { _ in }) throws {
            folder = try Self.makeFolder()
            path = "\(folder)/below/admin.sock"
            var limits = AdminLimits()
            change(&limits)
            let parameters = [AdminParameter("who"), AdminParameter("x"), AdminParameter("count", .count)]
            let standing = [
                AdminRoute(.get, "/v1/hello", .read, parameters: parameters) { $1.answer(text: "hello \($0["who"] ?? "you")\n") }
            ]
            server = try AdminServer(AdminSocket(path: path), routes: standing + routes, limits: limits)
        }

        deinit {
            server.stop()
            for name in ["/below/admin.sock.lock", "/below", ""] { remove(folder + name) }
        }

        static func makeFolder() throws -> String {
            var template = Array("/tmp/larder-admin-XXXXXX".utf8CString)
            return String(cString: try #require(mkdtemp(&template)))
        }

        func client() throws -> RawClient { try RawClient(socketPath: path) }

        func ask(_ request: String) throws -> ReceivedResponse {
            let client = try client()
            client.send(request)
            return try client.readResponse()
        }

        func get(_ target: String, _ fields: String = "") throws -> ReceivedResponse {
            try ask("GET \(target) HTTP/1.1\r\nHost: larder\r\n\(fields)\r\n")
        }
    }

    @Test("A route sends the response to its request, once, and the connection ends")
    func answers() throws {
        let served = try Served()
        let client = try served.client()
        client.sendByteByByte("GET /v1/hello?who=M%C3%A4use&x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 200 && response.text == "hello Mäuse\n")
        #expect(response["Connection"] == "close" && response["Cache-Control"] == "no-store")
        #expect(client.isClosedByPeer())
    }

    @Test(
        "A request without a route, or from a web page, is refused with its reason",
        arguments: [
            ("GET /v1/nothing HTTP/1.1\r\nHost: larder\r\n\r\n", 404, "no_such_path"),
            ("POST /v1/hello HTTP/1.1\r\nHost: larder\r\nContent-Length: 0\r\n\r\n", 405, "method_not_allowed"),
            ("GET /v1/hello HTTP/1.1\r\nHost: attacker.example\r\n\r\n", 403, "foreign_host"),
            ("GET /v1/hello HTTP/1.1\r\nHost: larder\r\nOrigin: http://attacker.example\r\n\r\n", 403, "cross_site"),
            ("GET /v1/hello HTTP/1.1\r\nHost: larder\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403, "cross_site"),
            ("GET /v1/hello HTTP/1.1\r\nHost: localhost.attacker.example:80\r\n\r\n", 403, "foreign_host"),
            ("GET /v1/hello?how=1 HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "unknown_parameter"),
            ("GET /v1/hello?who=a&who=b HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "repeated_parameter"),
            ("GET /v1/hello?count=-1 HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "bad_parameter"),
            ("GET /v1/hello?count=%2B1 HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "bad_parameter"),
            ("GET http://larder/v1/hello HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "bad_target"),
            ("GET /v1/hello?who=%zz HTTP/1.1\r\nHost: larder\r\n\r\n", 400, "bad_target"),
            ("GET /v1/hello HTTP/1.1\r\n\r\n", 400, "missing_host"),
            ("hello\r\n\r\n", 400, "malformed_request_line"),
            ("POST /v1/hello HTTP/1.1\r\nHost: larder\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400, "malformed_chunk_size"),
        ])
    func refuses(request: String, status: Int, code: String) throws {
        let response = try Served().ask(request)
        #expect(response.status == status)
        #expect(response.text.contains("\"code\": \"\(code)\""))
        #expect(response["Content-Type"]?.hasSuffix("json") == true)
    }

    @Test("An unknown parameter is refused with the nearest known one")
    func namesTheNearest() throws {
        let response = try Served().get("/v1/hello?cuont=1")
        #expect(response.text.contains("This path has no parameter `cuont`; did you mean `count`?"))
    }

    @Test(
        "HEAD gets the response of GET without its content, another method gets the allowed ones, and each response has a date")
    func followsHTTP() throws {
        let served = try Served()
        let client = try served.client()
        client.send("HEAD /v1/hello HTTP/1.1\r\nHost: localhost:80\r\n\r\n")
        let head = try client.readResponse(to: "HEAD")
        #expect(head.status == 200 && head["Content-Length"] == "10" && head["Date"]?.hasSuffix(" GMT") == true)
        #expect(client.isClosedByPeer())
        let refused = try served.ask("DELETE /v1/hello HTTP/1.1\r\nHost: larder\r\n\r\n")
        #expect(refused.status == 405 && refused["Allow"] == "GET, HEAD" && refused["Date"] != nil)
        #expect(refused["Content-Type"] == "application/problem+json")
    }

    @Test("A body at its limit is accepted, and one byte more is refused", arguments: [true, false])
    func limitsBodies(isChunked: Bool) throws {
        let echo = AdminRoute(.post, "/v1/echo", .read) { $1.answer(contentType: "text/plain", body: $0.body) }
        let served = try Served([echo]) { $0.bodyLength = 10 }
        for (length, status) in [(10, 200), (11, 413)] {
            let body = String(repeating: "x", count: length)
            let framed =
                isChunked
                ? "Transfer-Encoding: chunked\r\n\r\n\(String(length, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                : "Content-Length: \(length)\r\n\r\n\(body)"
            let response = try served.ask("POST /v1/echo HTTP/1.1\r\nHost: larder\r\n\(framed)")
            #expect(response.status == status)
            if status == 200 { #expect(response.text == body) }
        }
    }

    @Test("A head past its limit is refused")
    func limitsHeads() throws {
        let served = try Served { $0.head.headLength = 200 }
        #expect(try served.get("/v1/hello", "X: \(String(repeating: "x", count: 200))\r\n").status == 431)
    }

    @Test("Clients are accepted up to the limit; one more gets an error, and is served after another has disconnected")
    func limitsClients() throws {
        let served = try Served { $0.clients = 2 }
        let first = try served.client()
        let second = try served.client()
        // Both have been accepted by the time a later one is refused.
        let third = try served.client()
        #expect(try third.readResponse().status == 503)
        second.close()
        first.send("GET /v1/hello HTTP/1.1\r\nHost: larder\r\n\r\n")
        #expect(try first.readResponse().status == 200)
        first.close()
        third.close()
        #expect(try served.get("/v1/hello").status == 200)
    }

    @Test("A client that does not send a complete request in time gets an error and is closed")
    func limitsTime() throws {
        let served = try Served { $0.request = 50 }
        let client = try served.client()
        client.send("GET /v1/hello HTTP/1.1\r\n")
        #expect(try client.readResponse().status == 408)
    }

    @Test("A route without a response in time is abandoned, and its later response is dropped")
    func limitsAnswers() throws {
        nonisolated(unsafe) var kept: AdminExchange?
        let routes = [
            AdminRoute(.get, "/v1/never", .read) { kept = $1 },
            AdminRoute(.get, "/v1/late", .read) { _, exchange in
                kept?.answer(text: "too late")
                kept = nil
                exchange.answer(text: "now")
            },
        ]
        let served = try Served(routes) { $0.answer = 50 }
        #expect(try served.get("/v1/never").status == 504)
        #expect(try served.get("/v1/late").text == "now")
    }

    @Test("A streamed response follows the pace of its reader, and others are served in between")
    func streams() throws {
        let made = Pieces()
        let route = AdminRoute(.get, "/v1/pieces", .read) { _, exchange in
            var left = 100
            exchange.stream(contentType: "text/plain") {
                if left == 0 { return .end }
                left -= 1
                made.add()
                return .piece([UInt8](repeating: 0x78, count: 64 * 1024))
            }
        }
        let served = try Served([route])
        let reader = try served.client()
        reader.send("GET /v1/pieces HTTP/1.1\r\nHost: larder\r\n\r\n")
        #expect(reader.hasInput(withinMilliseconds: Deadline.milliseconds))
        #expect(try served.get("/v1/hello").status == 200)
        // The reader has read nothing: the generated data is in the kernel's buffer.
        #expect(made.value < 100)
        #expect(try reader.readResponse().body.count == 100 * 64 * 1024)
    }

    @Test("An interrupted response cannot be mistaken for a complete one")
    func breaksOff() throws {
        let route = AdminRoute(.get, "/v1/broken", .read) { _, exchange in
            var hasBegun = false
            exchange.stream(contentType: "text/plain") {
                defer { hasBegun = true }
                return hasBegun ? .broken : .piece([0x78])
            }
        }
        let served = try Served([route])
        #expect(throws: ClientFault.self) { try served.get("/v1/broken") }
    }

    @Test("Only the owner can access the socket and its folder")
    func isPrivate() throws {
        let served = try Served()
        var status = stat()
        #expect(lstat(served.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(String(served.path.dropLast(11)), &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test("A second server on the same path is refused, and the first keeps running")
    func refusesASecond() throws {
        let served = try Served()
        #expect(throws: AdminSocketError.self) { try AdminSocket(path: served.path) }
        #expect(try served.get("/v1/hello").status == 200)
    }

    @Test("A leftover socket is replaced; a file that is not a socket, or another program's socket, stays")
    func replacesWhatIsLeftOver() throws {
        let folder = try Served.makeFolder()
        let path = "\(folder)/admin.sock"
        defer { for name in ["/admin.sock", "/admin.sock.lock", ""] { remove(folder + name) } }
        // A killed process removes nothing, and its lock is released.
        let left = try AdminSocket(path: path)
        close(left.descriptor)
        #expect(unlink(path + ".lock") == 0)
        let replaced = try AdminSocket(path: path)
        #expect(throws: Never.self) { try RawClient(socketPath: path) }
        // Another program, which does not use the lock, accepts connections there.
        #expect(unlink(path + ".lock") == 0)
        #expect(throws: AdminSocketError.self) { try AdminSocket(path: path) }
        replaced.close()
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        close(file)
        #expect(throws: AdminSocketError.self) { try AdminSocket(path: path) }
        #expect(access(path, F_OK) == 0)
    }

    @Test("A path longer than the kernel allows is refused; the longest allowed one is not")
    func limitsPaths() throws {
        let folder = try Served.makeFolder()
        let longest = "\(folder)/".padding(to: UnixAddress.longestPath)
        defer { for name in [longest, longest + ".lock", folder] { remove(name) } }
        try AdminSocket(path: longest).close()
        #expect(throws: AdminSocketError.self) { try AdminSocket(path: longest + "x") }
    }
}

extension String {
    fileprivate func padding(to count: Int) -> String { self + String(repeating: "x", count: count - utf8.count) }
}

/// Counts the pieces that the admin thread generates.
private final class Pieces: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.wrappingAdd(1, ordering: .relaxed) }
}
