import TestSupport

/// An origin whose response depends on the path alone, so that a test selects its case by the path.
enum Recipes {
    static let fields: [String: String] = [
        "/fresh": "Cache-Control: max-age=600\r\nETag: \"f\"\r\n",
        "/shared": "Cache-Control: s-maxage=600, max-age=0\r\n",
        "/heuristic": "Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n",
        "/expires": "Expires: Wed, 01 Jan 2070 00:00:00 GMT\r\n",
        "/stale": "Cache-Control: max-age=600\r\nAge: 1000\r\nETag: \"s\"\r\n",
        "/must-revalidate": "Cache-Control: max-age=600, must-revalidate\r\nAge: 1000\r\nETag: \"m\"\r\n",
        "/no-cache": "Cache-Control: no-cache, max-age=600\r\nETag: \"n\"\r\n",
        "/no-store": "Cache-Control: no-store\r\n",
        "/private": "Cache-Control: private, max-age=600\r\n",
        "/public": "Cache-Control: public, max-age=600\r\n",
        "/vary": "Cache-Control: max-age=600\r\nVary: Accept-Language\r\n",
        "/vary-cookie": "Cache-Control: max-age=600\r\nVary: Cookie\r\n",
        "/vary-any": "Cache-Control: max-age=600\r\nVary: *\r\n",
        "/parts": "Cache-Control: max-age=600\r\nETag: \"p\"\r\n",
        "/revalidated": "Cache-Control: max-age=60, stale-while-revalidate=600\r\nAge: 100\r\nETag: \"r\"\r\n",
        "/set-cookie": "Set-Cookie: a=b\r\nLast-Modified: Wed, 01 Jan 2020 00:00:00 GMT\r\n",
    ]

    /// The body of the only path that obeys Range.
    static let partedBody = String(repeating: "0123456789", count: 1000)

    /// Every path of the table, and one whose response has no Cache-Control.
    static var paths: [String] { fields.keys.sorted() + ["/plain"] }

    static func answer(_ request: OriginRequest, _ connection: borrowing OriginConnection) -> Bool {
        _ = connection.readBody(of: request)
        let path = String(request.target.prefix { $0 != "?" })
        let fields = fields[path] ?? ""
        if let tag = request["If-None-Match"], fields.contains("ETag: \(tag)\r\n") {
            return connection.send("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n")
        }
        if path == "/parts", request.method == "GET" { return answerPart(request, connection, fields) }
        if request.method == "HEAD" { return connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\(fields)\r\n") }
        return connection.respond(fields: fields, body: "hello")
    }

    private static func answerPart(_ request: OriginRequest, _ connection: borrowing OriginConnection, _ fields: String) -> Bool {
        let bounds = request["Range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
        let isCurrent = request["If-Range"].map { $0 == "\"p\"" } ?? true
        guard bounds.count == 2, isCurrent else { return connection.respond(fields: fields, body: partedBody) }
        let part = String(partedBody.dropFirst(bounds[0]).prefix(bounds[1] - bounds[0] + 1))
        let place = "Content-Range: bytes \(bounds[0])-\(bounds[1])/\(partedBody.utf8.count)\r\n"
        return connection.respond("206 Partial Content", fields: fields + place, body: part)
    }
}
