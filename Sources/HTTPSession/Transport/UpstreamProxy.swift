import HTTPMessage

/// An HTTP proxy through which everything leaves.
package struct UpstreamProxy: Hashable, Sendable {
    package let host: String
    package let port: UInt16
    /// The value of `Proxy-Authorization`, or `nil`.
    package let authorization: [UInt8]?

    package init(host: String, port: UInt16, authorization: [UInt8]? = nil) {
        self.host = host
        self.port = port
        self.authorization = authorization
    }

    /// With the Basic scheme (RFC 7617 §2).
    package init(host: String, port: UInt16, user: String, password: String) {
        var value: [UInt8] = []
        value.append("Basic ")
        Base64.write(Array("\(user):\(password)".utf8), into: &value)
        self.init(host: host, port: port, authorization: value)
    }

    var origin: Origin { Origin(scheme: .http, host: host, port: port) }
}

extension UpstreamProxy: CustomStringConvertible {
    /// Without the credentials.
    package var description: String { origin.authority }
}

/// Base 64 (RFC 4648 §4).
enum Base64 {
    static func write(_ bytes: [UInt8], into output: inout [UInt8]) {
        let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let group =
                UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[index + 2]) : 0)
            for place in 0..<4 {
                output.append(place <= left ? alphabet.utf8Start[Int(group >> UInt32(18 - 6 * place) & 63)] : 0x3D)
            }
            index += 3
        }
    }
}
