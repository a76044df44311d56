internal import CLarderNghttp2
import HTTPMessage

/// A field section to send: pseudo-header fields, then fields in lower case, without those that HTTP/2 does not have (RFC 9113 §8.2).
///
/// libnghttp2 copies the bytes and writes names in lower case.
struct OutgoingFields {
    private struct Entry {
        var name: Extent
        var value: Extent
        var isNeverIndexed = false
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    mutating func removeAll() {
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
        if !entries.isEmpty { entries.removeAll(keepingCapacity: true) }
    }

    // MARK: Pseudo-header fields

    /// - Returns: `false` if the target has no authority.
    mutating func addPseudoFields(of head: borrowing RequestHead, extendedConnect: Span<UInt8>?) -> Bool {
        let target = head.target
        guard !target.host.isEmpty else { return false }
        if head.methodName.isEmpty { add(":method", head.method.name) } else { add(":method", head.span(of: head.methodName)) }
        if target.form != .authority {
            add(":scheme", target.scheme == .https ? "https" : "http")
            let start = bytes.count
            bytes.append(":path")
            bytes.append(head.span(of: target.path))
            if target.path.isEmpty { bytes.append(head.method == .options && target.query.isEmpty ? "*" : "/") }
            bytes.append(head.span(of: target.query))
            note(from: start, nameCount: 5)
        }
        let start = bytes.count
        bytes.append(":authority")
        appendAuthority(of: head)
        note(from: start, nameCount: 10)
        if let extendedConnect { add(":protocol", extendedConnect) }
        return true
    }

    /// Host and port; the default port of the scheme is left out, except for CONNECT.
    private mutating func appendAuthority(of head: borrowing RequestHead) {
        let target = head.target
        if target.hostKind == .ipv6 { bytes.append("[") }
        bytes.append(head.span(of: target.host))
        if target.hostKind == .ipv6 { bytes.append("]") }
        if target.form == .authority || target.port != target.scheme.defaultPort {
            bytes.append(":")
            bytes.append(decimal: UInt64(target.port))
        }
    }

    mutating func addStatus(_ status: Status) {
        let start = bytes.count
        bytes.append(":status")
        bytes.append(decimal: UInt64(status.code))
        note(from: start, nameCount: 7)
    }

    // MARK: Fields

    mutating func add(_ fields: borrowing Fields) {
        for line in fields.lines where !Self.isLeftOut(line, of: fields) {
            add(fields.name(of: line), fields.value(of: line))
            entries[entries.count - 1].isNeverIndexed = line.isNeverIndexed
        }
    }

    /// Whether HTTP/2 does not have the field (RFC 9113 §8.2.2, §8.3.1): a connection-specific field, TE unless its value is `trailers`, or
    /// Host, which `:authority` replaces.
    private static func isLeftOut(_ line: FieldLine, of fields: borrowing Fields) -> Bool {
        switch line.known {
        case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade, .http2Settings, .host: true
        case .te: !fields.value(of: line).equalsIgnoringCase("trailers")
        default: false
        }
    }

    private mutating func add(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let start = bytes.count
        bytes.append(name)
        bytes.append(value)
        note(from: start, nameCount: name.count)
    }

    private mutating func add(_ name: StaticString, _ value: Span<UInt8>) {
        let start = bytes.count
        bytes.append(name)
        bytes.append(value)
        note(from: start, nameCount: name.utf8CodeUnitCount)
    }

    private mutating func add(_ name: StaticString, _ value: StaticString) {
        let start = bytes.count
        bytes.append(name)
        bytes.append(value)
        note(from: start, nameCount: name.utf8CodeUnitCount)
    }

    /// Records a field line. Its name and value are the appended bytes from `start` on.
    private mutating func note(from start: Int, nameCount: Int) {
        entries.append(
            Entry(name: Extent(offset: start, count: nameCount), value: Extent(start + nameCount..<bytes.count)))
    }

    // MARK: Conversion for libnghttp2

    func withEntries(_ submit: (UnsafePointer<nghttp2_nv>?, Int) -> CInt) -> CInt {
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return submit(nil, 0) }
            // The pointer is mutable only by type: libnghttp2 does not change these bytes.
            let start = UnsafeMutablePointer(mutating: base)
            return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: entries.count) { list in
                for (index, entry) in entries.enumerated() {
                    list.initializeElement(
                        at: index,
                        to: nghttp2_nv(
                            name: start + Int(entry.name.offset), value: start + Int(entry.value.offset),
                            namelen: Int(entry.name.count), valuelen: Int(entry.value.count),
                            flags: entry.isNeverIndexed ? UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) : 0))
                }
                return submit(list.baseAddress, entries.count)
            }
        }
    }
}
