import HTTPMessage
import HTTPWire

extension FuzzTarget {
    /// A client's first bytes in a tunnel: cut anywhere they are read the same, all of them are held, and what is accepted is written
    /// again, in other records, and read the same.
    package static let clientHello = FuzzTarget("ClientHello") { octets in
        check(octets, limits: .chosen(by: octets))
    }

    private static func check(_ octets: [UInt8], limits: ParseLimits) -> String? {
        let whole = ReadHello(octets, ends: [octets.count], limits: limits)
        if ReadHello(octets, ends: Cuts.each(of: octets.count), limits: limits) != whole { return "octet by octet differs" }
        if ReadHello(octets, ends: Cuts.some(of: octets), limits: limits) != whole { return "in pieces differs" }
        switch whole {
        case .read(let hello):
            if octets.count < 5 || octets[0] != 22 || octets[1] != 3 { return "no TLS, and a ClientHello" }
            if let name = hello.serverName, name.isEmpty || !holds(name, octets) { return "a name that did not come" }
            let written = WrittenHello.records(hello, recordLength: 1 + octets.count % 50)
            let again = ReadHello(written, ends: [written.count], limits: ParseLimits())
            return again == whole ? nil : "what was written again is another"
        case .notTLS:
            let begins = octets.starts(with: [22, 3]) || octets == [22] || octets.isEmpty
            return begins ? "TLS that is taken for something else" : nil
        case .needsMore, .refused: return nil
        }
    }

    /// Whether all bytes of the name are there, whatever records stand between them.
    private static func holds(_ name: [UInt8], _ octets: [UInt8]) -> Bool { Set(name).isSubset(of: octets) }
}

/// What a client's first bytes come to, given in pieces.
package enum ReadHello: Equatable {
    case needsMore
    case notTLS
    case read(ClientHello)
    case refused(ClientHelloFault)

    /// - Parameter ends: how much of the bytes has been received at each read.
    package init(_ octets: [UInt8], ends: [Int], limits: ParseLimits) {
        var reader = ClientHelloReader(limits: limits)
        var start = 0
        do throws(ClientHelloFault) {
            for end in ends where end > start {
                let step = try reader.take(octets.span.extracting(start..<end))
                precondition(reader.octets.count == end, "what came is held")
                start = end
                switch step {
                case .needsMore: continue
                case .notTLS: self = .notTLS
                case .hello(let hello): self = .read(hello)
                }
                return
            }
            self = .needsMore
        } catch {
            self = .refused(error)
        }
    }
}

/// A ClientHello as a client would send it.
package enum WrittenHello {
    /// - Parameter recordLength: of the message, in each of its records.
    package static func records(_ hello: ClientHello, recordLength: Int = 1 << 14) -> [UInt8] {
        var extensions = [(0x002B, [2, 3, 4] as [UInt8])]
        if let name = hello.serverName { extensions.append((0, serverName(name))) }
        if let offered = hello.protocols { extensions.append((16, protocols(offered))) }
        if hello.hasEncryptedHello { extensions.append((0xFE0D, [0])) }
        return records(of: message(extensions), recordLength: recordLength)
    }

    /// With these extensions; `nil` writes none, not even an empty list.
    package static func message(_ extensions: [(type: Int, octets: [UInt8])]?) -> [UInt8] {
        var body: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32)
        // No session, one cipher suite, no compression.
        body += [0, 0, 2, 0x13, 0x01, 1, 0]
        if let extensions {
            let list = extensions.flatMap { number($0.type) + number($0.octets.count) + $0.octets }
            body += number(list.count) + list
        }
        return [1, UInt8(body.count >> 16)] + number(body.count & 0xFFFF) + body
    }

    package static func serverName(_ name: [UInt8]) -> [UInt8] { number(name.count + 3) + [0] + number(name.count) + name }

    private static func protocols(_ offered: ApplicationProtocols) -> [UInt8] {
        let named: [(ApplicationProtocols, String)] = [
            (.http2, "h2"), (.http1, "http/1.1"), (.http10, "http/1.0"), (.other, "x"),
        ]
        let list = named.filter { offered.contains($0.0) }.flatMap { [UInt8($0.1.utf8.count)] + Array($0.1.utf8) }
        return number(list.count) + list
    }

    package static func records(of message: [UInt8], recordLength: Int = 1 << 14) -> [UInt8] {
        stride(from: 0, to: message.count, by: recordLength).flatMap { start in
            let part = message[start..<min(start + recordLength, message.count)]
            return [22, 3, 1] + number(part.count) + part
        }
    }

    private static func number(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
}
