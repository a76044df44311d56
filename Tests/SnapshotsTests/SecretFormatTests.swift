import HTTPMessage
import HTTPSerialization
import Testing

@testable import SecretScanning
@testable import Snapshots

extension PlantedSecret {
    private static let json = "application/json"

    /// Secrets that are found by the format of their text. `PlantedSecretTests` records and replays them.
    static let inFormats: [PlantedSecret] = multipart + xml + pairs + literals + lines + credentials + urls

    private static func part(_ boundary: String, end: String = "") -> String {
        "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nSECRET\(end)"
    }

    private static let multipart: [PlantedSecret] = [
        PlantedSecret(.body("multipart/form-data; boundary=\"a b\"", part("a b", end: "\r\n--a b--\r\n")), "mq8"),
        PlantedSecret(.body("multipart/form-data; boundary=a b; x=y", part("a b", end: "\r\n--a b--\r\n")), "mq9"),
        PlantedSecret(.body("multipart/form-data; boundary=\"a;\\\"b\"", part("a;\"b", end: "\r\n--a;\"b--\r\n")), "me8"),
        PlantedSecret(
            .body("multipart/form-data; boundary=----=_Part_7", part("----=_Part_7", end: "\r\n------=_Part_7--\r\n")), "mu8"),
        PlantedSecret(.body("multipart/form-data; boundary=x7", part("x7")), "mt8"),
        PlantedSecret(.body("multipart/form-data; boundary=x7", part("x7", end: "\r\n")), "mt9"),
        PlantedSecret(
            .body(
                "multipart/form-data; boundary=x7",
                "--x7\r\nContent-Disposition: form-data; filename=\"a;b\"; name=\"api;key\"\r\n\r\nSECRET\r\n--x7--\r\n"), "mn8"),
    ]

    private static let xml: [PlantedSecret] = [
        PlantedSecret(.body("text/xml", "<a><password>SECRET<!-- x --></password></a>"), "xc8"),
        PlantedSecret(.body("text/xml", "<a><password><!-- x -->SECRET</password></a>"), "xc9"),
        PlantedSecret(.body("text/xml", "<a><password><?pi x?>SECRET</password></a>"), "xp8"),
        PlantedSecret(.body("text/xml", "<a><password><![CDATA[xd]]><![CDATA[SECRET]]></password></a>"), "xs8"),
        PlantedSecret(.body("text/xml", "<a><password><b>x</b>SECRET</password></a>"), "xb8"),
        PlantedSecret(.body("text/xml", "<a><password>ab<b>SECRET</b></password></a>"), "xb9"),
        PlantedSecret(.body("text/xml", "<a><password>SECRET"), "xe8"),
        PlantedSecret(.body("text/html", "<a><script>var a = /'/, token = 'SECRET'</script>"), "h4script"),
    ]

    private static let pairs: [PlantedSecret] = [
        PlantedSecret(.body(json, #"[{"name":"user","value":"me"},{"name":"password","value":"SECRET"}]"#), "np8"),
        PlantedSecret(.body(json, #"{"value":"SECRET","key":"apiToken"}"#), "nv8"),
        PlantedSecret(.body(json, #"{"Name":"DB_PASSWORD","x":{"value":"y"},"Value":"SECRET"}"#), "nd8"),
        PlantedSecret(.body(json, #"{"name":"Set-Cookie","values":["a","SECRET"]}"#), "nl8"),
        PlantedSecret(.body(json, #"{"id":"pin","value": SECRET }"#), "731846"),
        PlantedSecret(.body(json, #"{"name":"pass\u0077ord","value":"SECRET""#), "nt8"),
        PlantedSecret(.body(json, #"[["Authorization","Bearer SECRET"],["Accept","*/*"]]"#), "pb8"),
        PlantedSecret(.body(json, #"["Authorization","Token SECRET"]"#), "pt81"),
        PlantedSecret(.body(json, #"{"headers":[["X-Api-Key","SECRET"]]}"#), "pk8"),
        PlantedSecret(.body(json, #"{"env":["password","SECRET"]}"#), "hunter81"),
    ]

    private static let literals: [PlantedSecret] = [
        PlantedSecret(.body(json, #"{"query":"mutation { login(user: \"me\", password: \"SECRET\") { id } }"}"#), "gq8"),
        PlantedSecret(.body(json, #"{"query":"{ login(password: \"SECRET\") { id } }"}"#), "gs8"),
        PlantedSecret(.body(json, ##"{"query":"# a \"b\"\nmutation M($a: Int) {\n login(pin: SECRET, a: $a)\n}"}"##), "918273"),
        PlantedSecret(.body("application/graphql", #"mutation { login(password: "SECRET") { id } }"#), "ga8"),
        PlantedSecret(.body("application/graphql", "mutation { login(password: \"\"\"SECRET\"\"\") { id } }"), "gb8"),
        PlantedSecret(.body("application/graphql", #"mutation { add(apiToken: ["x", "SECRET"]) { id } }"#), "gl8"),
        PlantedSecret(.query("query"), "mutation%7Blogin(password%3A%22gg8%22)%7Bid%7D%7D"),
        PlantedSecret(.body("application/json5", "{password: 'SECRET'}"), "j58"),
        PlantedSecret(.body(json, "{'password': 'SECRET'}"), "js8"),
        PlantedSecret(.body("text/plain", "{\n  token: 'SECRET',\n}"), "jt8"),
        PlantedSecret(.body("text/javascript", "var don='t', a = {apiKey: 'SECRET', b: 1}"), "j4vascript"),
        PlantedSecret(.body("application/javascript", "headers['Authorization'] = 'Bearer SECRET'"), "j4vasc1"),
        PlantedSecret(.body("text/javascript", "const password = `SECRET`;"), "p@ss!word"),
    ]

    private static let lines: [PlantedSecret] = [
        PlantedSecret(.body("application/yaml", "user: me\npassword: SECRET\n"), "ya8"),
        PlantedSecret(.body("text/yaml", "users:\n  - name: me\n    password: SECRET # old\n"), "yb8"),
        PlantedSecret(.body("text/yaml", "a:\n- password: \"SECRET\"\n- b\n"), "yq8"),
        PlantedSecret(.body("text/yaml", "password: 'it''SECRET'\n"), "sy8"),
        PlantedSecret(.body("text/yaml", "password:\n  - x\n  - SECRET\n"), "yl8"),
        PlantedSecret(.body("text/yaml", "password: [x, SECRET]\n"), "yf8"),
        PlantedSecret(.body("text/yaml", "login: {user: me, password: SECRET}\n"), "ym8"),
        PlantedSecret(.body("text/yaml", "password: |\n  x\n\n  SECRET\nuser: me\n"), "yt8"),
        PlantedSecret(.body("text/yaml", "password: !!str SECRET\r\nuser: me\r\n"), "yr8"),
        PlantedSecret(.body("text/yaml", "env:\n- name: DB_PASSWORD\n  value: SECRET\n"), "yp8"),
        PlantedSecret(.body("text/yaml", "environment:\n  - DB_PASSWORD=SECRET\n  - \"A=b\"\n"), "ye8"),
        PlantedSecret(.body("text/yaml", "environment:\n  - \"DB_PASSWORD=SECRET\"\n"), "yg8"),
        PlantedSecret(.body("application/x-sh", "#!/bin/sh\nexport TOKEN=SECRET\nrun\n"), "sa8"),
        PlantedSecret(.body("application/x-sh", "A=1 TOKEN='SECRET' run --x\n"), "sb8"),
        PlantedSecret(.body("application/x-sh", "curl -H \"X-Api-Key: SECRET\" http://b.example/\n"), "sc8"),
        PlantedSecret(.body("application/x-sh", "login --user=me --password=SECRET; run\n"), "sd8"),
        PlantedSecret(.body("text/x-env", "A=1\nTOKEN=\"SECRET\"\n"), "se8"),
        PlantedSecret(.body("text/plain", "password: SECRET\n"), "ta8"),
        PlantedSecret(.body("text/plain", "# settings\n[db]\nuser = me\npassword = SECRET\n"), "tb8"),
        PlantedSecret(.body("text/plain", "export TOKEN=SECRET\n"), "tc8"),
        PlantedSecret(.body("text/plain", "To run this:\n\nexport TOKEN=SECRET\n"), "td8"),
        PlantedSecret(.body("text/plain", "Log in with this, and be quick:\n  Password: SECRET\n"), "hunter82"),
        PlantedSecret(.body("text/plain", "GET / HTTP/1.1\nAuthorization: Bearer SECRET\n"), "hunter83"),
    ]

    private static let credentials: [PlantedSecret] = [
        PlantedSecret(.field("X-Upstream"), "Bearer b81"), PlantedSecret(.field("X-Upstream"), "Token t81"),
        PlantedSecret(.field("X-Upstream"), "bearer AbCd"), PlantedSecret(.field("X-Upstream"), "Basic YTpi"),
        PlantedSecret(.field("X-Note"), "use Bearer abc81"),
        PlantedSecret(.body("text/plain", "use Bearer SECRET."), "abc82"),
        PlantedSecret(.body("text/plain", "use Basic SECRET here"), "bWU6YjE="),
        PlantedSecret(.body("text/plain", "use Token SECRET here"), "a1b2c3d4"),
        PlantedSecret(.body(json, #"{"note":"Bearer SECRET"}"#), "abc83"),
    ]

    private static let urls: [PlantedSecret] = [
        PlantedSecret(.query("%73ig"), "a%2Fb%2Bc9d%3D"), PlantedSecret(.query("x-oss-signature"), "a1b2c3d4"),
        PlantedSecret(.query("x-oss-credential"), "LTAI5tX%2F20260101%2Foss"),
        PlantedSecret(.query("OSSAccessKeyId"), "LTAI5tX8"),
        PlantedSecret(.query("x-oss-security-token"), "CAIS8"), PlantedSecret(.query("Key-Pair-Id"), "K2JCJMDEHXQW5F"),
        PlantedSecret(.query("Policy"), "eyJTdGF0ZW1lbnQiOlt7IlJlc291cmNlIjoiaHR0cDovL2E~iJ9XX0_"),
    ]
}

@Suite("Secrets in formats of text")
struct SecretFormatTests {
    @Test(
        "Public data that resembles secrets stays",
        arguments: [
            ("application/json", #"[{"name":"color","value":"red4you"},{"key":"next_page_token","value":"p2abcdef"}]"#),
            ("application/json", #"{"required":["password","username"],"fields":["token","refresh_token"]}"#),
            ("application/json", #"{"name":"password","type":"string","x":{"value":"v1abcdef"}}"#),
            ("application/json", #"{"key":"PROJ-1","value":"abc12345"}"#),
            ("application/json", #"{"query":"query { users(first: 10, key: \"abc12345\") { password token } }"}"#),
            ("application/json", #"{"query":"mutation M($password: String!) { login(password: $password) { token } }"}"#),
            (
                "text/javascript",
                "f({token:next,password:'Password',apiKey:'auth.token',csrf:\"csrf-token\"});a={password:`${b}1`}"
            ),
            ("text/javascript", "if(token=='abc12345'){};b=token=>'abc12345';a={password:'Enter 6 letters',tokenKey:'/a/b1/c'}"),
            ("text/plain", "import os\ntoken = self.next_token()\npassword: str = None\nfor key in keys:\n    pass\n"),
            ("text/plain", "struct Login {\n    password: u64key,\n    token: Token2x;\n}\n"),
            ("text/plain", "Invalid password: it must have 8 letters or more.\n"),
            ("text/plain", "The bearer 5, a basic plan2 and token ring1.\nBearer of good news, Basic YWJj, Token expired\n"),
            (
                "text/yaml",
                "# password: the password of the user\ntoken: ${TOKEN}\npassword: {{ x }}\napiKey: $API_KEY\npassword_hint: a1\n"
            ),
            ("application/x-sh", "export TOKEN=$OTHER PASSWORD=\"$(cat x)\"\necho token\n"),
            ("text/xml", "<a><password><b>x</b><c><![CDATA[y1]]></c></password><!-- the <token> of 2 --><p>a1</p><q>b</q></a>"),
            ("text/html", "<p>a <token> <b>x1</b></p><p>c <!-- <token> --> d1</p>"),
        ])
    func leavesPublicData(type: String, text: String) throws {
        let fixture = SnapshotFixture()
        var exchange = Exchange("http://a:80/?policy=strict&q=bearer+a1", text)
        exchange.fields = [
            ("Content-Type", type), ("X-Plan", "Basic Plan2"), ("X-Type", "Bearer JWT"), ("X-State", "Token expired"),
        ]
        exchange.requestFields = [("Content-Type", type)]
        exchange.method = "POST"
        exchange.requestBody = Array(text.utf8)
        try SecretTests.record(fixture, [exchange])
        let snapshot = try Snapshot(path: fixture.path)
        #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: nil), exchange) == text)
        #expect(try !KnownSecretTests.text(of: snapshot).contains("larderSecret"))
    }

    @Test("The value of a split element is the text without comments and marks, and is found elsewhere")
    func joinsElements() throws {
        var login = Exchange("http://a:80/login", "<a><password>Xk7&#45;<!-- a -->pQ<![CDATA[2&<]]><?b?>v</password></a>")
        login.fields = [("Content-Type", "application/xml")]
        let snapshot = try KnownSecretTests.recorded([login, Exchange("http://a:80/plain", "it is Xk7-pQ2&<v here")])
        let text = try KnownSecretTests.text(of: snapshot)
        #expect(text.contains("<password>larderSecret") && text.contains("</password>") && text.contains("it is larderSecret"))
        #expect(!text.contains("Xk7"))
    }

    private static func utf16(_ text: String, isBigEndian: Bool, hasMark: Bool) -> [UInt8] {
        ((hasMark ? "\u{FEFF}" : "") + text).utf16.flatMap { unit in
            let octets = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            return isBigEndian ? octets : octets.reversed()
        }
    }

    @Test(
        "Secrets in XML and YAML in UTF-16 are replaced in UTF-16, by name and by value",
        arguments: [(true, true), (true, false), (false, true), (false, false)])
    func replacesInUTF16(isBigEndian: Bool, hasMark: Bool) throws {
        func encoded(_ text: String) -> [UInt8] { Self.utf16(text, isBigEndian: isBigEndian, hasMark: hasMark) }
        var login = Exchange("http://a:80/login")
        login.method = "POST"
        let xml = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a b='ü𝄞'><password>x7ü-𝄞a81</password><c>é</c></a>"
        login.body = encoded(xml)
        login.requestBody = login.body
        login.requestFields = [("Content-Type", "application/xml")]
        login.fields = login.requestFields
        var plain = Exchange("http://a:80/plain")
        plain.body = encoded("note x7ü-𝄞a81 there")
        let snapshot = try KnownSecretTests.recorded([login, plain])
        for (exchange, old) in [(login, xml), (plain, "note x7ü-𝄞a81 there")] {
            for key in [SnapshotFixture.key, nil] {
                var cursors = SequenceCursors()
                let layer = try SnapshotLayer(snapshot, key: key)
                guard case .found(let found) = try layer.find(exchange.request, &cursors) else { throw SnapshotError.notSigned }
                let octets = try snapshot.octets(of: try #require(found.recording.response?.body))
                let placeholder = Placeholder.make(for: Array("x7ü-𝄞a81".utf8), .opaque, under: SnapshotFixture.key).text
                #expect(octets == encoded(old.replacing("x7ü-𝄞a81", with: placeholder)))
            }
        }
        #expect(try snapshot.secretPlaces().isEmpty)
    }

    @Test("A known secret is replaced where it is percent-encoded twice, or in hexadecimal", arguments: [true, false])
    func replacesFurtherForms(isUppercase: Bool) throws {
        let value = Array(KnownSecretTests.value.utf8)
        let hexadecimal = Hexadecimal.encode(value, isUppercase: isUppercase)
        let twice = "Xk7-pQ2%2FvN9%20zR4%22tB".replacing("%2F", with: isUppercase ? "%2F" : "%2f").replacing("%", with: "%25")
        for form in [hexadecimal, "ab\(hexadecimal)0a", twice] {
            let plain = Exchange("http://a:80/plain?next=\(form)", "it is \(form)")
            let snapshot = try KnownSecretTests.recorded([plain, KnownSecretTests.login])
            let text = try KnownSecretTests.text(of: snapshot)
            #expect(!text.contains(form) && !text.contains(hexadecimal), "\(form)")
            #expect(try MatchingTests.answer(SnapshotLayer(snapshot, key: SnapshotFixture.key), plain).contains("larderSecret"))
        }
    }
}
