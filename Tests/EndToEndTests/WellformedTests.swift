import CLarderZlib
import Testing
import TestSupport

@Suite("T35, V8 to V12: validation of each kind of body, through the proxy")
struct WellformedTests {
    private func stage(
        _ kind: String, type: String, body: [UInt8], words: String = "on_failure: block", fields: String = ""
    ) throws -> Stage {
        try Stage("rules: [{name: kind, validate: {wellformed: \(kind), \(words)}}]") { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: \(type)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
            )
            return connection.send(bytes: body)
        }
    }

    private func stage(_ kind: String, type: String, body: String) throws -> Stage {
        try stage(kind, type: type, body: Array(body.utf8))
    }

    private static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        var header = Array("IHDR".utf8)
        for number in [width, height] { header += (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        header += [8, 6, 0, 0, 0]
        let check = UInt32(crc32(0, header, UInt32(header.count)))
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + header
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: check >> ($0 * 8)) }
    }

    @Test("A body of the required kind passes unchanged and is stored")
    func passes() throws {
        for (kind, type, body) in [
            ("xml", "application/xml", Array("<a><b/></a>".utf8)), ("image", "image/png", Self.png(20, 30)),
            ("plist", "application/x-plist", Array("<plist version='1.0'><true/></plist>".utf8)),
            ("{any_of: [json, image]}", "image/png", Self.png(1, 1)),
            ("{any_of: [json, image]}", "application/json", Array("[]".utf8)),
        ] {
            let stage = try stage(kind, type: type, body: body)
            for _ in 0..<2 { #expect(try stage.fetch("/good").body == body) }
            #expect(stage.requestCount() == 1)
        }
    }

    @Test(
        "A body of another kind gets a 502 with its reason and is not stored",
        arguments: [
            ("xml", "<foo", "malformed_xml"), ("plist", "<plist><key>a</key></plist>", "malformed_plist"),
            ("image", "<html>", "malformed_image"), ("{any_of: [json, image]}", "<html>", "none_accepts"),
        ])
    func refuses(kind: String, body: String, code: String) throws {
        let stage = try stage(kind, type: "application/octet-stream", body: body)
        for _ in 0..<2 {
            let response = try stage.fetch("/bad")
            #expect(response.status == 502 && response.code == code)
        }
        #expect(stage.requestCount() == 2)
    }

    @Test("V12: if none of several kinds matches, the error lists the reason for each")
    func listsReasons() throws {
        let stage = try stage("{any_of: [json, image]}", type: "text/html", body: "<html>")
        let errors = try stage.fetch("/page").json["errors"] as? [[String: Any]]
        #expect(errors?.compactMap { $0["code"] as? String } == ["none_accepts", "malformed_json", "malformed_image"])
    }

    @Test("T35 XML entities are refused, and nothing is read or fetched for them")
    func refusesEntities() throws {
        for declaration in ["a \"ha\"", "a SYSTEM \"file:///etc/passwd\""] {
            let stage = try stage("xml", type: "text/xml", body: "<!DOCTYPE l [<!ENTITY \(declaration)>]><l>&a;&a;</l>")
            let response = try stage.fetch("/entities")
            #expect(response.status == 502 && response.code == "malformed_xml")
            #expect(!response.text.contains("root:"))
        }
    }

    @Test("T35 an image that declares 30,000 by 30,000 pixels is refused, whatever its length", arguments: [0, 2 << 20])
    func refusesLargeImages(padding: Int) throws {
        let body = Self.png(30_000, 30_000) + [UInt8](repeating: 0, count: padding)
        let stage = try stage("image", type: "image/png", body: body, words: "on_failure: block, max_body: 1MiB")
        let response = try stage.fetch("/image")
        #expect(response.status == 502 && response.code == "image_too_large")
    }

    @Test("V10: an image of another kind than its Content-Type is refused")
    func refusesMislabelled() throws {
        let stage = try stage("image", type: "image/jpeg", body: Self.png(1, 1))
        let response = try stage.fetch("/image")
        #expect(response.status == 502 && response.code == "malformed_image")
    }

    @Test("A range that the checked body cannot satisfy is a 416 without a body")
    func unsatisfiable() throws {
        let stage = try stage("xml", type: "text/xml", body: "<a/>")
        let client = try stage.client()
        for _ in 0..<2 {
            client.send(stage.head("GET", "/x", fields: "Range: bytes=100-\r\n"))
            let response = try client.readResponse()
            #expect(response.status == 416 && response.body.isEmpty && response["Content-Range"] == "bytes */4")
        }
    }
}
