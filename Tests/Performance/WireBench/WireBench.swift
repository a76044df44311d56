import HTTPMessage
import HTTPWire

/// What reading a head and its framing costs, in nanoseconds: the best of several rounds.
///
///     swift run -c release WireBench [heads in each round]
///
/// With the allocation counter preloaded, two runs with different numbers of heads must count the same.
enum WireBench {
    private static let request =
        "GET http://www.example.com/some/path/to/a/file.html HTTP/1.1\r\nHost: www.example.com\r\n"
        + "User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,application/xhtml+xml\r\n"
        + "Accept-Encoding: gzip, deflate\r\nProxy-Connection: Keep-Alive\r\n\r\n"
    private static let response =
        "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/html\r\n"
        + "Content-Length: 1024\r\nCache-Control: max-age=3600\r\nETag: \"abc\"\r\nConnection: keep-alive\r\n\r\n"

    static func run(arguments: [String]) {
        let count = arguments.first.flatMap { Int($0) } ?? 100_000
        print("request head of \(request.utf8.count) octets: \(best(of: 20) { readRequests(count) } / Int64(count)) ns")
        print("response head of \(response.utf8.count) octets: \(best(of: 20) { readResponses(count) } / Int64(count)) ns")
    }

    /// The shortest of several rounds, in nanoseconds.
    private static func best(of rounds: Int, _ round: () -> Void) -> Int64 {
        (0..<rounds).map { _ in
            let duration = ContinuousClock().measure(round).components
            return duration.seconds * 1_000_000_000 + duration.attoseconds / 1_000_000_000
        }.min() ?? 0
    }

    private static func readRequests(_ count: Int) {
        let input = Array(request.utf8)
        var parser = RequestParser()
        var head = RequestHead()
        for _ in 0..<count {
            guard let length = try? parser.parse(input.span.bytes, into: &head), length == input.count,
                let framing = try? BodyFraming.ofRequest(head), case .none = framing
            else { fatalError("the request is refused") }
        }
    }

    private static func readResponses(_ count: Int) {
        let input = Array(response.utf8)
        var parser = ResponseParser()
        var head = ResponseHead()
        for _ in 0..<count {
            guard let length = try? parser.parse(input.span.bytes, into: &head), length == input.count,
                let framing = try? BodyFraming.ofResponse(head, to: .get), case .length(1024) = framing
            else { fatalError("the response is refused") }
        }
    }
}
