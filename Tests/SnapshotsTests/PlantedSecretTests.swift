import HTTPMessage
import HTTPSerialization
import ServerTrust
import TestSupport
import Testing

@testable import SecretScanning
@testable import Snapshots

/// A secret and its place in an exchange.
struct PlantedSecret: Sendable, CustomTestStringConvertible {
    enum Place: Sendable {
        /// A field in the request and in the response.
        case field(String)
        /// A query parameter of the request, and of the response's Location.
        case query(String)
        /// A field of a form in the request.
        case form(String)
        /// Content of this media type in the request and in the response; `SECRET` marks the place.
        case body(String, String)
        case multipart(String)
        /// The path of the request, and of a URL in the response's JSON.
        case path(String)
    }

    let place: Place
    let secret: String

    init(_ place: Place, _ secret: String) {
        self.place = place
        self.secret = secret
    }

    var testDescription: String { "\(place)" }

    var exchange: Exchange {
        var exchange = Exchange("http://a:80/things", "ok")
        exchange.method = "POST"
        func set(_ type: String, _ text: String) {
            exchange.requestFields.append(("Content-Type", type))
            exchange.requestBody = Array(text.utf8)
        }
        switch place {
        case .field(let name):
            exchange.requestFields.append((name, secret))
            exchange.fields.append((name, secret))
        case .query(let name):
            exchange.uri += "?a=1&\(name)=\(secret)&b=2"
            exchange.fields.append(("Location", "/next?\(name)=\(secret)"))
        case .form(let name): set("application/x-www-form-urlencoded", "a=1&\(name)=\(secret)&b=2")
        case .body(let type, let template):
            set(type, template.replacing("SECRET", with: secret))
            exchange.fields = [("Content-Type", type)]
            exchange.body = exchange.requestBody
        case .multipart(let name):
            let part = "--x7\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(secret)\r\n"
            set(
                "multipart/form-data; boundary=x7",
                "--x7\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\(part)--x7--\r\n")
        case .path(let template):
            exchange.uri = "http://a:80" + template.replacing("SECRET", with: secret)
            exchange.fields = [("Content-Type", "application/json")]
            exchange.body = Array("{\"url\":\"\(exchange.uri)\",\"plain\":\"http:\\/\\/a\\/x\"}".utf8)
        }
        return exchange
    }

    private static let json = "application/json"
    private static let hex = "9f86d081884c7d659a2feaa0c55ad015"

    /// Secrets that were once found in recordings, and those that were already covered.
    static let reported: [PlantedSecret] = [
        PlantedSecret(.body(json, #"{"token":"SECRET"}"#), "tok-Zq81"),
        PlantedSecret(.body(json, #"{"accessToken":"SECRET","n":1}"#), "at-Zq81x9"),
        PlantedSecret(.body(json, #"{"clientSecret" : "SECRET"}"#), "cs-77ab"),
        PlantedSecret(.body(json, #"{"secret":"SECRET"}"#), "sh"),
        PlantedSecret(.body(json, #"{"user":"me","password":"SECRET"}"#), "hu2"),
        PlantedSecret(.query("token"), "qtok-81"),
        PlantedSecret(.query("key"), "AIzaSyA" + "0123456789abcdefghijklmnopqrstuv"),
        PlantedSecret(.query("sig"), "a%2Fb%2Bc9d%3D"),
        PlantedSecret(.query("Signature"), "Zm9v~YmFy9"),
        PlantedSecret(.query("X-Goog-Signature"), hex),
        PlantedSecret(.query("code"), "SplxlOBeZQ9bYS6WxSbIA"),
        PlantedSecret(.field("PRIVATE-TOKEN"), "prv8"),
        PlantedSecret(.field("X-Vault-Token"), "vlt8"),
        PlantedSecret(.field("DD-API-KEY"), "ddk8"),
        PlantedSecret(.field("apikey"), "api8"),
        PlantedSecret(.field("X-Goog-Api-Key"), "gak8"),
        PlantedSecret(.field("X-Shopify-Access-Token"), "shp8"),
        PlantedSecret(.body("text/plain", "use SECRET here"), "sk_live_" + "51H8abcDEF0123456789xyz"),
        PlantedSecret(.body("text/plain", "use SECRET here"), "sk-proj-" + "abcDEF0123456789_-xyzABC"),
        PlantedSecret(.body("text/plain", "use SECRET here"), "glpat-" + "abcDEF0123456789xyzA"),
        PlantedSecret(.path("/services/SECRET"), "T01ABCDEF/B02GHIJKL/a1B2c3D4e5F6g7H8i9J0k1L2"),
        PlantedSecret(.body("application/xml", "<login><user>me</user><Password>SECRET</Password></login>"), "xm8"),
        PlantedSecret(.multipart("password"), "mp8"),
        PlantedSecret(.body(json, #"{"remote":"https://me:SECRET@git.example/x"}"#), "up8"),
        PlantedSecret(.body(json, #"{"pass\u0077ord":"SECRET"}"#), "esc8"),
        PlantedSecret(.field("Authorization"), "Bearer opaque-81"), PlantedSecret(.field("Cookie"), "sid=ck81"),
        PlantedSecret(.field("X-Api-Key"), "xak8"), PlantedSecret(.field("X-Auth-Token"), "xat8"),
        PlantedSecret(.field("X-Amz-Security-Token"), "ast8"), PlantedSecret(.field("X-CSRF-Token"), "csr8"),
        PlantedSecret(.query("access_token"), Planted.opaque), PlantedSecret(.query("X-Amz-Signature"), hex),
        PlantedSecret(.form("client_secret"), Planted.opaque), PlantedSecret(.form("password"), "fp8"),
        PlantedSecret(.body(json, #"{"refresh_token":"SECRET"}"#), Planted.opaque),
        PlantedSecret(.body("text/plain", "a SECRET b"), Planted.gitHub),
        PlantedSecret(.body("text/plain", "a SECRET b"), Planted.awsID),
        PlantedSecret(.body("text/plain", "a SECRET b"), Planted.slack),
        PlantedSecret(.body("text/plain", "a SECRET b"), Planted.webToken),
        PlantedSecret(.body("text/plain", "a SECRET b"), Planted.privateKey),
    ]

    static let further: [PlantedSecret] = [
        // Other spellings of names.
        PlantedSecret(.body(json, #"{"API-KEY":"SECRET"}"#), "k1"), PlantedSecret(.body(json, #"{"auth_token":"SECRET"}"#), "k2"),
        PlantedSecret(.body(json, #"{"dbPassword":"SECRET"}"#), "k3"),
        PlantedSecret(.body(json, #"{"passphrase":"SECRET"}"#), "k4"),
        PlantedSecret(.body(json, #"{"new_password2":"SECRET"}"#), "k5"),
        PlantedSecret(.body(json, #"{"privateKey":"SECRET"}"#), "k6"),
        PlantedSecret(.body(json, #"{"AccountKey":"SECRET"}"#), "k7"),
        PlantedSecret(.body(json, #"{"sessionId":"SECRET"}"#), "k8"),
        PlantedSecret(.body(json, #"{"sig":"SECRET"}"#), "9f86d081884c7d65"),
        PlantedSecret(.body("application/xml", "<a><sid>SECRET</sid></a>"), "s1d0123456789abcdef"),
        // Other shapes of values.
        PlantedSecret(.body(json, #"{"password":["a","SECRET"]}"#), "k9x"),
        PlantedSecret(.body(json, #"{"pin": SECRET }"#), "917364"),
        PlantedSecret(.body(json, #"{"password":"SECRET"}"#), #"q\"uo\\te\/d"#),
        PlantedSecret(.body(json, #"{"authorization":"Bearer SECRET"}"#), "b81"),
        PlantedSecret(.body(json, #"[{"a":{"b":[{"webhookSecret":"SECRET"}]}}]"#), "deep8"),
        // JSON within JSON, within a form, in JSON lines and in event streams.
        PlantedSecret(.body(json, #"{"body":"{\"password\":\"SECRET\"}"}"#), "in8"),
        PlantedSecret(.form("payload"), "%7B%22password%22%3A%22jf8%22%7D"),
        PlantedSecret(.body("application/x-ndjson", "{\"a\":1}\n{\"token\":\"SECRET\"}\n"), "nd8"),
        PlantedSecret(.body("text/event-stream", "event: x\ndata: {\"token\":\"SECRET\"}\n\n"), "sse8"),
        PlantedSecret(.body("text/plain", "{\"clientSecret\":\"SECRET\"}"), "plain8"),
        // URLs.
        PlantedSecret(.body(json, #"{"url":"https:\/\/b.example\/o?X-Goog-Signature=SECRET\u0026x=1"}"#), hex),
        PlantedSecret(.body("text/html", "<a href='https://b.example/o?x=1&amp;sig=SECRET'>o</a>"), "hs8"),
        PlantedSecret(.body("text/plain", "postgres://me:SECRET@db.example:5432/x"), "pg8"),
        PlantedSecret(.query("redirect_uri"), "https%3A%2F%2Fc.example%2Fcb%3Ftoken%3Drd81"),
        PlantedSecret(.query("user%5Bpassword%5D"), "br8"), PlantedSecret(.query("SAMLResponse"), "PHNhbWw8"),
        PlantedSecret(.path("/api/webhooks/123456789012345678/SECRET"), String(repeating: "aB3_", count: 15)),
        PlantedSecret(.path("/botSECRET/getMe"), "123456789:AAH" + String(repeating: "x9", count: 16)),
        // XML and HTML.
        PlantedSecret(.body("text/xml", "<e:Env><wsse:Password Type='t'>SECRET</wsse:Password></e:Env>"), "ws8"),
        PlantedSecret(.body("application/soap+xml", "<a><token><![CDATA[SECRET]]></token></a>"), "cd8"),
        PlantedSecret(.body("application/xml", "<user name='me' password='SECRET'/>"), "at8"),
        PlantedSecret(.body("application/xml", "<add key=\"ApiKey\" value=\"SECRET\"/>"), "ak8"),
        PlantedSecret(.body("text/html", "<form><input type=hidden name=\"csrf_token\" value=\"SECRET\"></form>"), "ht8"),
        // Multipart.
        PlantedSecret(.multipart("apiKey"), "mk8"), PlantedSecret(.multipart("user[secret]"), "ms8"),
        // Fields.
        PlantedSecret(.field("X-Hub-Signature-256"), "sha256=\(hex)"), PlantedSecret(.field("Ocp-Apim-Subscription-Key"), "oc8"),
        PlantedSecret(.field("CF-Access-Client-Secret"), "cf8"),
        PlantedSecret(.field("X-Forwarded-Authorization"), "Bearer fa81"),
        PlantedSecret(.field("Private_Token"), "pt8"),
        // Tokens by prefix.
        PlantedSecret(.body("text/plain", "SECRET"), "npm_" + String(repeating: "aB3d", count: 9)),
        PlantedSecret(.body("application/octet-stream", #"{"token":"SECRET"}"#), "os8"),
        PlantedSecret(.body("text/plain", "\u{FEFF}{\"token\":\"SECRET\"}"), "bm8"),
        PlantedSecret(.body("application/octet-stream", "\u{1}SECRET\u{2}"), "hf_" + String(repeating: "aB3d", count: 9)),
        PlantedSecret(.body("text/plain", "key: SECRET"), "AIza" + String(repeating: "a-_3d", count: 7)),
        PlantedSecret(
            .body("text/plain", "SECRET"), "SG." + String(repeating: "a1", count: 11) + "." + String(repeating: "b2", count: 21)),
        PlantedSecret(.body("text/javascript", "var k = 'SECRET';"), "GOCSPX-" + String(repeating: "a1-_", count: 7)),
    ]
}

@Suite("Secrets known by value")
struct KnownSecretTests {
    static let value = "Xk7-pQ2/vN9 zR4\"tB"

    static func recorded(_ exchanges: [Exchange], terms: MatchTerms = MatchTerms()) throws -> Snapshot {
        let fixture = SnapshotFixture()
        try SecretTests.record(fixture, exchanges, terms: terms)
        let snapshot = try Snapshot(path: fixture.path)
        _ = try snapshot.verify()
        return snapshot
    }

    /// All texts in the recordings.
    static func text(of snapshot: Snapshot) throws -> String {
        var text = ""
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            text += recording.request.uri.text + recording.request.fields.bytes.text
            text += recording.response?.fields.bytes.text ?? ""
            text += recording.response?.trailers.bytes.text ?? ""
            for hints in recording.response?.earlyHints ?? [] { text += hints.bytes.text }
            for (body, _) in recording.bodies { text += try snapshot.octets(of: body).text }
        }
        return text
    }

    /// A login that reveals a value as a secret, in its JSON form.
    static var login: Exchange {
        var login = Exchange("http://a:80/login", #"{"password":"\#(value.replacing("\"", with: "\\\""))"}"#)
        login.fields = [("Content-Type", "application/json")]
        return login
    }

    static let forms: [String] = [
        value, "Xk7-pQ2%2FvN9%20zR4%22tB", "Xk7-pQ2%2fvN9%20zR4%22tB", "Xk7-pQ2%2FvN9+zR4%22tB", #"Xk7-pQ2/vN9 zR4\"tB"#,
        #"Xk7-pQ2\/vN9 zR4\"tB"#, "Xk7-pQ2/vN9 zR4&quot;tB", Base64.encode(Array(value.utf8)),
        Base64.encode(Array("x\(value)".utf8)), Base64.encode(Array("xy\(value)z".utf8)),
    ]

    @Test("A known secret is replaced everywhere, in earlier and later recordings, in each of its forms", arguments: forms)
    func replacesEverywhere(form: String) throws {
        var plain = Exchange("http://a:80/plain", "the value is \(form) there")
        plain.fields = [("Content-Type", "text/plain"), ("X-Note", form)]
        var style = Exchange("http://a:80/style", "a{b:'\(form)'}")
        style.fields = [("Content-Type", "text/css")]
        let snapshot = try Self.recorded([plain, Self.login, style])
        let text = try Self.text(of: snapshot)
        #expect(!text.contains(form))
        #expect(text.contains("the value is larderSecret"))
        for key in [SnapshotFixture.key, nil] {
            let layer = try SnapshotLayer(snapshot, key: key)
            for exchange in [plain, Self.login, style] {
                #expect(try MatchingTests.answer(layer, exchange).contains("larderSecret"))
            }
        }
    }

    @Test("Following a redirect that contains a secret leads to the URL with its placeholder")
    func followsRedirect() throws {
        var redirect = Exchange("http://a:80/start", "")
        redirect.status = 302
        let secret = "q7Zp-81xLm-44"
        redirect.fields = [("Location", "/done/\(secret)"), ("Set-Cookie", "s=1")]
        var next = Exchange("http://a:80/done/\(secret)", "done")
        next.requestFields = [("X-Auth-Token", secret)]
        let snapshot = try Self.recorded([redirect, next])
        #expect(try !Self.text(of: snapshot).contains(secret))
        for key in [SnapshotFixture.key, nil] {
            let layer = try SnapshotLayer(snapshot, key: key)
            var cursors = SequenceCursors()
            guard case .found(let found) = try layer.find(redirect.request, &cursors) else { throw SnapshotError.notSigned }
            let location = try #require(found.recording.response?.fields.combinedValue(of: .location))
            var followed = next
            followed.uri = "http://a:80\(location)"
            followed.requestFields = [("X-Auth-Token", "anything")]
            #expect(try MatchingTests.answer(layer, followed, &cursors) == "done")
            // A client that has the secret sends the secret itself.
            #expect(try MatchingTests.answer(layer, next, &cursors) == "done")
        }
    }

    @Test("With the project key, a different value in place of a known secret does not match")
    func tellsOthersApart() throws {
        let secret = "q7Zp-81xLm-44"
        var exchange = Exchange("http://a:80/v1/\(secret)/list", "list")
        exchange.requestFields = [("X-Auth-Token", secret)]
        let snapshot = try Self.recorded([exchange])
        var other = exchange
        other.uri = "http://a:80/v1/q7Zp-81xLm-45/list"
        let keyed = try SnapshotLayer(snapshot, key: SnapshotFixture.key)
        #expect(try MatchingTests.answer(keyed, exchange) == "list")
        #expect(try MatchingTests.answer(keyed, other) == "not_recorded")
        let keyless = try SnapshotLayer(snapshot, key: nil)
        #expect(try MatchingTests.answer(keyless, other) == "list")
        other.uri = "http://a:80/v1/x/list"
        #expect(try MatchingTests.answer(keyless, other) == "not_recorded")
    }

    @Test(
        "Words, numbers and short values are replaced only where their names indicate secrets",
        arguments: ["disabled", "1234", "x", "true", "not_found", "2026-11-24", "en-US", "administrator"])
    func leavesWords(value: String) throws {
        var login = Exchange("http://a:80/login", #"{"password":"\#(value)"}"#)
        login.fields = [("Content-Type", "application/json")]
        let text = "a text with \(value) in it"
        let snapshot = try Self.recorded([login, Exchange("http://a:80/\(value)", text)])
        let layer = try SnapshotLayer(snapshot, key: nil)
        #expect(try MatchingTests.answer(layer, Exchange("http://a:80/\(value)")) == text)
    }

    @Test("Without a key, requests that differ only in secrets get the responses in the order of recording")
    func ordersSecrets() throws {
        func exchange(_ token: String) -> Exchange { Exchange("http://a:80/list?token=\(token)", "page \(token)") }
        let names = ["one", "two", "three"]
        var exchanges = names.map { exchange($0) }
        for index in exchanges.indices { exchanges[index].started = Exchange.began.advanced(seconds: Int64(index)) }
        let layer = try SnapshotLayer(Self.recorded(exchanges), key: nil)
        var cursors = SequenceCursors()
        for name in names + names.reversed() {
            #expect(try MatchingTests.answer(layer, exchange(name), &cursors) == "page \(name)")
        }
        #expect(try MatchingTests.answer(layer, exchange("four"), &cursors) == "page one")
    }

    @Test("Fields, query parameters, form fields and patterns can be declared as secrets, and names as harmless")
    func heedsDeclared() throws {
        let text = #"""
            {"secrets":{"fields":["X-Tenant"],"form":["member"],"json":["/a/pin"],"patterns":["acct-[0-9]+"],"public":["token"],
            "query":["who"]}}
            """#
        let terms = try MatchTerms(text: Array(text.utf8))
        #expect(try MatchTerms(json: terms.json) == terms)
        var exchange = Exchange("http://a:80/acct-77/x?Who=me3&token=t3", #"{"a":{"pin":4711},"id":"acct-78"}"#)
        exchange.method = "POST"
        exchange.requestFields = [("x_tenant", "ten3"), ("Content-Type", "application/x-www-form-urlencoded")]
        exchange.requestBody = Array("member=mem3&x=1".utf8)
        exchange.fields = [("Content-Type", "application/json")]
        let snapshot = try Self.recorded([exchange], terms: terms)
        let recorded = try Self.text(of: snapshot)
        for secret in ["acct-7", "me3", "ten3", "mem3", "4711"] { #expect(!recorded.contains(secret), "\(secret)") }
        #expect(recorded.contains("token=t3"))
        for key in [SnapshotFixture.key, nil] {
            #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: key), exchange).contains("larderSecret"))
        }
        #expect(throws: SnapshotError.malformed("match.secrets has the unknown member header")) {
            try MatchTerms(text: Array(#"{"secrets":{"header":[]}}"#.utf8))
        }
    }

    @Test("A declared pattern is found at the end of a body of more than 1 MiB")
    func findsPatternsInLongBodies() throws {
        var terms = MatchTerms()
        terms.secrets.patterns = ["acct-[0-9]+"]
        let filler = String(repeating: "x", count: (1 << 20) + 1)
        var exchange = Exchange("http://a:80/", "{\"text\":\"\(filler)\",\"id\":\"acct-78\"}")
        exchange.fields = [("Content-Type", "application/json")]
        let snapshot = try Self.recorded([exchange], terms: terms)
        #expect(try !Self.text(of: snapshot).contains("acct-78"))
    }

    @Test(
        "A bearer token escaped in JSON and the same token in a field get the same placeholder",
        arguments: [
            (#"Bearer ab\/cd12ef34gh"#, "ab/cd12ef34gh"), (#"bearer ab\u002bcd12ef34gh"#, "ab+cd12ef34gh"),
        ])
    func unescapesBearerTokens(written: String, token: String) throws {
        var login = Exchange("http://a:80/login", #"{"authorization":"\#(written)"}"#)
        login.fields = [("Content-Type", "application/json")]
        var field = Exchange("http://a:80/field", "ok")
        field.requestFields = [("Authorization", "Bearer \(token)")]
        let plain = Exchange("http://a:80/plain", "the value is \(token) there")
        #expect(try !Self.text(of: Self.recorded([login, plain])).contains(token))
        let text = try Self.text(of: Self.recorded([login, field]))
        let placeholders = text.matches(of: /larderSecret[0-9a-f]{32}/).map { String($0.output) }
        #expect(placeholders.count == 2 && Set(placeholders).count == 1, "\(placeholders)")
    }
}

@Suite("Planted secrets")
struct PlantedSecretTests {
    @Test(
        "The recording contains no secret, and replays with and without the project key",
        arguments: PlantedSecret.reported + PlantedSecret.further + PlantedSecret.inFormats)
    func leavesNone(planted: PlantedSecret) throws {
        let fixture = SnapshotFixture()
        let exchange = planted.exchange
        try SecretTests.record(fixture, [exchange])
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try snapshot.secretPlaces().isEmpty)
        _ = try snapshot.verify()
        try expectNone(of: planted.secret, in: snapshot)
        for key in [SnapshotFixture.key, nil] {
            let layer = try SnapshotLayer(snapshot, key: key)
            #expect(try !MatchingTests.answer(layer, exchange).hasPrefix("not_recorded"))
        }
        // A client that sends the placeholders also gets the recording.
        let recording = try snapshot.recording(at: 0)
        let again = try snapshot.request(of: recording)
        var cursors = SequenceCursors()
        guard case .found = try SnapshotLayer(snapshot, key: SnapshotFixture.key).find(again, &cursors) else {
            Issue.record("the recorded request is not found")
            return
        }
    }

    /// Searches every part of the recordings separately, because a digest may contain a short secret by chance.
    private func expectNone(of secret: String, in snapshot: Snapshot) throws {
        // The scheme and a cookie's name stay.
        let isKey = secret == Planted.privateKey
        let needle = isKey ? "MIIEpAIBAAKCAQEA" : secret.split { " =".contains($0) }.last.map(String.init) ?? secret
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            var texts = [recording.request.uri.text, recording.request.fields.bytes.text]
            texts.append(recording.response?.fields.bytes.text ?? "")
            for (body, _) in recording.bodies { texts.append(try snapshot.octets(of: body).text) }
            for text in texts { #expect(!text.contains(needle), "\(text)") }
        }
    }

    @Test("There are 41 reported secrets and at least 40 more")
    func counts() {
        #expect(PlantedSecret.reported.count == 41)
        #expect(PlantedSecret.further.count >= 40)
    }

    @Test(
        "Values whose names only resemble those of secrets are not replaced",
        arguments: [
            ("application/json", #"{"next_page_token":"p2","sort_key":"name","max_tokens":16,"public_key":"x","monkey":"y"}"#),
            ("application/json", #"{"key":"PROJ-1","code":"not_found","token_type":"bearer","token":"","password":null}"#),
            (
                "application/xml",
                "<ListBucketResult><Key>path/to/file</Key><NextContinuationToken>abc</NextContinuationToken></ListBucketResult>"
            ),
            ("application/json", #"{"eos_token":"</s>","pad_token":"[PAD]","secret":true}"#),
            ("text/javascript", "a&&token=b,c={key:'d'};if(e.password==f){}"),
            ("application/json", #"{"url":"https://b.example/list?key=name&code=US&page=2"}"#),
        ])
    func leavesOthers(type: String, text: String) throws {
        let fixture = SnapshotFixture()
        var exchange = Exchange("http://a:80/", text)
        exchange.fields = [
            ("Content-Type", type), ("Access-Control-Allow-Credentials", "true"), ("X-Cache-Key", "a/b"), ("ETag", "\"key\""),
        ]
        try SecretTests.record(fixture, [exchange])
        #expect(try MatchingTests.answer(SnapshotLayer(Snapshot(path: fixture.path), key: nil), exchange) == text)
        let response = try #require(try Snapshot(path: fixture.path).recording(at: 0).response)
        #expect(!response.fields.bytes.text.contains("larderSecret"))
    }
}
