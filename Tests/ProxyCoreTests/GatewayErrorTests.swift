import HTTPMessage
import HTTPWire
import Testing

@testable import ProxyCore

@Suite("Error responses (RFC 9209, RFC 9457)")
struct GatewayErrorTests {
    /// All faults. If one is missing in the switch below, it does not compile; if one is missing here, the test fails.
    static let faults: [Fault] = [
        .malformedRequest(detail: "d"), .badTarget(detail: "d"), .targetTooLong, .requestFieldsTooLarge(detail: "d"),
        .requestBodyTooLarge, .unknownTransferCoding, .unsupportedVersion, .unknownExpectation, .requestTimeout, .notForAProxy,
        .onlyIfCachedMiss(detail: "d"), .loop, .deniedByRule, .clientNotAllowed, .portNotAllowed, .hostMismatch,
        .destinationProhibited,
        .nameNotFound, .nameLookUpTimeout, .connectionRefused, .connectionTimeout, .connectionTerminated,
        .destinationUnroutable, .upstreamQueueFull, .upstreamQueueTimeout, .upstreamProxyRefused, .responseTimeout(phase: "idle"),
        .malformedResponse(detail: "d"), .responseFieldsTooLarge, .responseIncomplete, .unexpectedUpgrade, .unacceptableStatus,
        .unacceptableContentType, .malformedJSON, .malformedCoding, .unsupportedCoding, .responseBodyTooLarge,
        .noTrustAnchors, .offlineMiss(detail: "d"), .overloaded, .checkQueueFull, .shuttingDown, .internalError,
        .purgeOff, .purgeNotAllowed, .unexpectedNotModified,
        .untrustedServer(reason: "d"), .handshakeAlert(description: "d"), .handshakeFailed,
        .clientCertificateRequired, .plaintextToPinnedHost,
        .connectDenied, .tunnelRefused(reason: "d"), .recordedChainRefused(reason: "d"), .foreignHost, .crossSite,
        .noAuthority, .misdirectedRequest(detail: "d"), .noCertificate(reason: "d"), .clientRefusedCertificate(alert: "d"),
        .clientHandshakeFailed(reason: "d"),
        .credentialsRequired(reason: "d"), .tooManyAttempts, .credentialsQueueFull,
        .noneAccepts, .malformedXML, .malformedPropertyList, .malformedImage, .imageTooLarge,
        .transformFailed(.malformedJSON), .recordingDamaged, .requestBodiesFull, .hostDenied, .egressDenied, .ambiguousPath,
        .destinationPrivate,
        .limitReached(.requests), .contentHidden, .responseReset(code: 8, reason: "d"), .webSocketAcceptMismatch,
        .approvalDenied(reason: "d"),
    ]

    private static func number(_ fault: Fault) -> Int {
        switch fault {
        case .malformedRequest: 0
        case .badTarget: 1
        case .targetTooLong: 2
        case .requestFieldsTooLarge: 3
        case .requestBodyTooLarge: 4
        case .unknownTransferCoding: 5
        case .unsupportedVersion: 6
        case .unknownExpectation: 7
        case .requestTimeout: 8
        case .notForAProxy: 9
        case .onlyIfCachedMiss: 10
        case .loop: 11
        case .deniedByRule: 12
        case .clientNotAllowed: 13
        case .portNotAllowed: 14
        case .hostMismatch: 15
        case .destinationProhibited: 16
        case .nameNotFound: 17
        case .nameLookUpTimeout: 18
        case .connectionRefused: 19
        case .connectionTimeout: 20
        case .connectionTerminated: 21
        case .destinationUnroutable: 22
        case .upstreamQueueFull: 23
        case .upstreamQueueTimeout: 24
        case .upstreamProxyRefused: 25
        case .responseTimeout: 26
        case .malformedResponse: 27
        case .responseFieldsTooLarge: 28
        case .responseIncomplete: 29
        case .unexpectedUpgrade: 30
        case .unacceptableStatus: 31
        case .unacceptableContentType: 32
        case .malformedJSON: 33
        case .malformedCoding: 34
        case .unsupportedCoding: 35
        case .responseBodyTooLarge: 36
        case .noTrustAnchors: 37
        case .offlineMiss: 38
        case .overloaded: 39
        case .checkQueueFull: 40
        case .shuttingDown: 41
        case .internalError: 42
        case .purgeOff: 43
        case .purgeNotAllowed: 44
        case .unexpectedNotModified: 45
        case .untrustedServer: 46
        case .handshakeAlert: 47
        case .handshakeFailed: 48
        case .clientCertificateRequired: 49
        case .plaintextToPinnedHost: 50
        case .connectDenied: 51
        case .tunnelRefused: 52
        case .recordedChainRefused: 53
        case .foreignHost: 54
        case .crossSite: 55
        case .noAuthority: 56
        case .misdirectedRequest: 57
        case .noCertificate: 58
        case .clientRefusedCertificate: 59
        case .clientHandshakeFailed: 60
        case .credentialsRequired: 61
        case .tooManyAttempts: 62
        case .credentialsQueueFull: 63
        case .noneAccepts: 64
        case .malformedXML: 65
        case .malformedPropertyList: 66
        case .malformedImage: 67
        case .imageTooLarge: 68
        case .transformFailed: 69
        case .recordingDamaged: 70
        case .requestBodiesFull: 71
        case .hostDenied: 72
        case .egressDenied: 73
        case .ambiguousPath: 74
        case .destinationPrivate: 75
        case .limitReached: 76
        case .contentHidden: 77
        case .responseReset: 78
        case .webSocketAcceptMismatch: 79
        case .approvalDenied: 80
        }
    }

    /// The error types of RFC 9209 §2.3, with the recommended status where there is one.
    private static let proxyStatusTypes: Set<String> = [
        "dns_timeout", "dns_error", "destination_not_found", "destination_unavailable", "destination_ip_prohibited",
        "destination_ip_unroutable", "connection_refused", "connection_terminated", "connection_timeout",
        "connection_read_timeout", "connection_write_timeout", "connection_limit_reached", "tls_protocol_error",
        "tls_certificate_error", "tls_alert_received", "http_request_error", "http_request_denied",
        "http_response_incomplete", "http_response_header_section_size", "http_response_header_size",
        "http_response_body_size", "http_response_trailer_section_size", "http_response_trailer_size",
        "http_response_transfer_coding", "http_response_content_coding", "http_response_timeout", "http_upgrade_failed",
        "http_protocol_error", "proxy_internal_response", "proxy_internal_error", "proxy_configuration_error",
        "proxy_loop_detected",
    ]

    @Test("The list contains every fault")
    func listIsWhole() {
        #expect(Self.faults.map(Self.number) == Array(0..<81))
    }

    @Test(
        "Every fault has an error status, a registered Proxy-Status type, and text that needs no escaping", arguments: faults)
    func row(fault: Fault) {
        let row = GatewayError(fault)
        #expect((400...599).contains(row.status.code))
        #expect(row.status.reasonPhrase.utf8CodeUnitCount > 0, "\(row.status.code)")
        #expect(Self.proxyStatusTypes.contains(row.proxyStatus.text.description), "\(row.proxyStatus.text)")
        #expect(row.code.text.description.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil)
        #expect(row.explanation.text.description.wholeMatch(of: /[A-Za-z][A-Za-z0-9 .,:;'()\/_=-]*\./) != nil)
        switch row.origin {
        case .client: #expect(row.status.code < 500 || [501, 505, 508].contains(row.status.code))
        case .policy: #expect([403, 405, 407, 429, 502, 504].contains(row.status.code))
        case .upstream: #expect([502, 504].contains(row.status.code))
        case .larder: #expect(row.status.code >= 500)
        }
    }

    @Test("Each code belongs to one fault, except for codes shared on purpose with different details")
    func codesAreUnique() {
        var details: [String: [String]] = [:]
        for fault in Self.faults {
            let row = GatewayError(fault)
            details[row.code.text.description, default: []].append(row.detail?.text.description ?? "")
        }
        let shared = details.filter { $0.value.count > 1 }
        #expect(shared == ["timeout": ["name_look_up", "connect", "idle"], "queue_full": ["", "queue_wait"]])
    }

    @Test("Every validation code maps to a fault with the same name", arguments: ValidationFaults.Code.allCases)
    func validationCodes(code: ValidationFaults.Code) {
        #expect(GatewayError(Fault(code)).code.text.description == code.word.description)
    }

    @Test("Every fault gives a well-formed response in each format, also to HEAD", arguments: faults)
    func written(fault: Fault) throws {
        for accept in ["application/json", "text/html", "text/plain"] {
            for method in ["GET", "HEAD"] {
                let book = try Playbook()
                try book.run(
                    .request("\(method) http://a.example/x", "Accept: \(accept)"), [.lookUp(onDisk: false)],
                    .found([]), method == "GET" ? [.joinFetch] : [.fetch])
                if method == "GET" { try book.run(.leads, [.fetch]) }
                try book.run(
                    .fails(fault), method == "GET" ? [.releaseJoined, .sendError] : [.sendError],
                    .delivered, [.finish])
                let head = try #require(book.written)
                let row = GatewayError(fault)
                #expect(head.status == row.status.code)
                #expect(head["cache-control"] == "no-store")
                #expect((head["connection"] == "close") == row.closesConnection)
                #expect((head["retry-after"] != nil) == [429, 503].contains(row.status.code))
                #expect(head.body.isEmpty == (method == "HEAD"))
                #expect(head["content-length"] != "0")
                guard method == "GET" else { continue }
                switch accept {
                case "application/json":
                    let body = try JSONBody(head.body)
                    #expect(body.status == Int(row.status.code))
                    #expect(body["code"] == row.code.text.description)
                    #expect(body["title"] == row.explanation.text.description)
                    #expect(body["host"] == "a.example")
                    #expect(body["instance"] == "000000000000a1b2")
                    #expect(body.isRetryable == row.isRetryable)
                    #expect(head["content-type"] == "application/problem+json")
                case "text/html":
                    #expect(head["content-type"] == "text/html; charset=utf-8")
                    #expect(String(decoding: head.body, as: UTF8.self).hasPrefix("<!doctype html>"))
                default:
                    #expect(head["content-type"] == "text/plain; charset=utf-8")
                    #expect(String(decoding: head.body, as: UTF8.self).contains("code: \(row.code.text)\n"))
                }
            }
        }
    }

    @Test(
        "The format follows Accept; a client without Accept gets JSON",
        arguments: [
            (nil, "application/problem+json"), ("*/*", "application/problem+json"),
            ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html; charset=utf-8"),
            ("TEXT/PLAIN", "text/plain; charset=utf-8"),
            ("application/json, text/html", "application/problem+json"), ("image/png", "application/problem+json"),
            ("", "application/problem+json"), ("text/html;q=0.1, text/plain;q=0.9", "text/plain; charset=utf-8"),
            ("application/json;q=0.5, text/*", "text/html; charset=utf-8"),
            ("text/*;q=0.9, text/html;q=0, application/*;q=0.05", "text/plain; charset=utf-8"),
            ("text/html;q=0", "application/problem+json"), ("text/html;level=1;Q=0.2, */*;q=0.1", "text/html; charset=utf-8"),
        ])
    func format(accept: String?, type: String) throws {
        let book = try Playbook()
        try book.run(.request("GET /x", accept.map { ["Accept: \($0)"] } ?? []), [.sendError], .delivered, [.finish])
        #expect(book.written?["content-type"] == type)
    }

    @Test(
        "T41: an error response repeats nothing of the request but its host",
        arguments: ["application/json", "text/html", "text/plain"])
    func echoesNothing(accept: String) throws {
        let book = try Playbook()
        try book.run(
            .request(
                "PUT http://a.example/secret-path?secret-query", "Accept: \(accept)", "Cookie: secret-cookie",
                "Authorization: Bearer secret-token", "User-Agent: secret-agent", "X-Any: <script>secret</script>"), [.fetch],
            .fails(.connectionRefused), [.sendError],
            .delivered, [.finish])
        let head = try #require(book.written)
        let text = String(decoding: head.body, as: UTF8.self) + head.lines.map { "\($0.name): \($0.value)\n" }.joined()
        #expect(!text.contains("secret"))
        #expect(!text.contains("PUT"))
        #expect(!text.contains("/usr") && !text.contains("Larder/"))
    }

    @Test("T41: a reason given in a rule is escaped for its format, and keeps its letters")
    func escapesReasons() throws {
        let reason = "<b>\"Wegen\" Überlast</b> & 'so' \\ weiter"
        for (accept, expected) in [
            ("text/html", "&lt;b&gt;&quot;Wegen&quot; Überlast&lt;/b&gt; &amp; &#39;so&#39; \\ weiter"), ("text/plain", reason),
        ] {
            let book = try Playbook(rules: [["deny": ["reason": .text(reason)]]])
            try book.run(.request("GET http://a.example/x", "Accept: \(accept)"), [.sendError], .delivered, [.finish])
            #expect(String(decoding: try #require(book.written).body, as: UTF8.self).contains(expected))
        }
        let book = try Playbook(rules: [["deny": ["reason": .text(reason)]]])
        try book.run(.request("GET http://a.example/x"), [.sendError], .delivered, [.finish])
        #expect(try JSONBody(#require(book.written).body)["reason"] == reason)
    }

    @Test("T41: characters that could end a string or a line are escaped in every format")
    func escapesControls() throws {
        let body = GatewayErrorBody(
            error: GatewayError(.deniedByRule), requestID: 1, host: "a\"b\\\u{1b}[0m", rule: "r\u{0}\r\n", reason: "<i>\u{7f}")
        var json: [UInt8] = []
        body.write(.json, into: &json)
        let parsed = try JSONBody(json)
        #expect(parsed["host"] == "a\"b\\\u{1b}[0m")
        #expect(parsed["rule"] == "r\u{0}\r\n")
        for format in [GatewayErrorBody.Format.html, .text] {
            var bytes: [UInt8] = []
            body.write(format, into: &bytes)
            #expect(!bytes.contains { ($0 < 0x20 && $0 != 0x0A) || $0 == 0x7F })
        }
    }
}
