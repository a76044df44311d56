/// Random messages made of valid, unusual and invalid pieces, some of them with one damaged byte.
enum MadeUp {
    static func request(_ chance: inout Chance) -> [UInt8] {
        let targets = [
            "/", "/a?b", "http://a/", "http://[::1]:8080/x%20y", "*", "a:443", "http://a/#b", "http://u@a/", "/\u{e9}",
        ]
        var text = chance.isLucky(oneIn: 8) ? "\r\n\r\n" : ""
        text += chance.pick(["GET", "POST", "OPTIONS", "CONNECT", "X-Y"]) + " "
        text += chance.isLucky(oneIn: 2) ? "http://example.org/path" : chance.pick(targets)
        text += " " + (chance.isLucky(oneIn: 8) ? chance.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/1.9"]) : "HTTP/1.1") + "\r\n"
        if !chance.isLucky(oneIn: 10) { text += chance.pick(["Host: a", "Host: example.org", "host:[::1]:80"]) + "\r\n" }
        return damaged(text + fields(&chance) + "\r\nGET", &chance)
    }

    static func response(_ chance: inout Chance) -> [UInt8] {
        var text = chance.pick(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2"])
        text += " " + chance.pick(["200", "204", "304", "103", "404", "999"]) + chance.pick([" OK", "", " ", " Odd\tone"])
        return damaged(text + "\r\n" + fields(&chance) + "\r\nbody", &chance)
    }

    static func chunkedBody(_ chance: inout Chance) -> [UInt8] {
        var text = ""
        for _ in 0..<Int.random(in: 0...4, using: &chance) {
            let count = Int.random(in: 1...30, using: &chance)
            let size = String(count, radix: 16)
            text +=
                chance.pick([size, "00" + size, size.uppercased()]) + chance.pick(["", "", ";a", " ; a=b", ";a=\"b;c\""]) + "\r\n"
            text += String(repeating: chance.pick(["x", "\r", "\n", "0"]), count: count) + "\r\n"
        }
        return damaged(text + "0\r\n" + (chance.isLucky(oneIn: 2) ? fields(&chance) : "") + "\r\nGET", &chance)
    }

    private static func fields(_ chance: inout Chance) -> String {
        let lines = [
            "Content-Length: 5", "content-length: 5", "Content-Length: 5, 5", "Transfer-Encoding: chunked", "A:", "A: b",
            "A:\t b \t",
            "Connection: close", "X-\u{7A}: \u{e9}", "A : b", " folded", "ETag: \"a\"", "Trailer: x", "Cookie: a=b; c=d",
        ]
        return (0..<Int.random(in: 0...5, using: &chance)).map { _ in chance.pick(lines) + "\r\n" }.joined()
    }

    private static func damaged(_ text: String, _ chance: inout Chance) -> [UInt8] {
        var octets = Array(text.utf8)
        guard chance.isLucky(oneIn: 2) else { return octets }
        let place = Int.random(in: 0..<octets.count, using: &chance)
        switch Int.random(in: 0..<4, using: &chance) {
        case 0: octets[place] = chance.pick([0, 9, 10, 13, 32, 58, 127, 255])
        case 1: octets.remove(at: place)
        case 2: octets.insert(chance.pick([0, 9, 10, 13, 32, 44, 58, 59]), at: place)
        default: octets.removeLast(octets.count - place)
        }
        return octets
    }
}
