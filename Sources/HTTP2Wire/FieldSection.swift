import HTTPMessage

/// The field section that a session is receiving (RFC 9113 §8.2, §8.3). A connection needs only one such object, because field blocks are
/// not interleaved.
struct FieldSection {
    /// The pseudo-header fields as positions in `pseudo`.
    struct PseudoFields {
        var method: Extent?
        var scheme: Extent?
        var authority: Extent?
        var path: Extent?
        var connectProtocol: Extent?
        var status: UInt16?
    }

    var fields = Fields()
    private(set) var pseudo: [UInt8] = []
    private(set) var pseudoFields = PseudoFields()
    private(set) var priority: StreamPriority?
    private(set) var isTooLarge = false
    /// Whether there is an unknown pseudo-header field, or a malformed `:status`.
    private(set) var isMalformed = false
    /// The cookies of all lines, joined as RFC 9113 §8.2.3 says.
    private var cookies: [UInt8] = []
    private var hasCookies = false
    private var areCookiesNeverIndexed = false
    private var listBytes = 0

    mutating func removeAll() {
        fields.removeAll()
        if !pseudo.isEmpty { pseudo.removeAll(keepingCapacity: true) }
        if !cookies.isEmpty { cookies.removeAll(keepingCapacity: true) }
        pseudoFields = PseudoFields()
        priority = nil
        isTooLarge = false
        isMalformed = false
        hasCookies = false
        areCookiesNeverIndexed = false
        listBytes = 0
    }

    mutating func add(name: Span<UInt8>, value: Span<UInt8>, isNeverIndexed: Bool, limits: HTTP2Limits) {
        // The size of a field line is the length of its name and value plus 32 bytes (RFC 9113 §6.5.2).
        listBytes += name.count + value.count + 32
        if listBytes > limits.headerListBytes { isTooLarge = true }
        if isTooLarge || name.isEmpty { return }
        if name[0] == ASCII.colon { return addPseudoField(name, value) }
        if name.equals("cookie") {
            if isNeverIndexed { areCookiesNeverIndexed = true }
            return addCookies(value)
        }
        guard fields.count < limits.fieldCount else {
            isTooLarge = true
            return
        }
        if name.equals("priority") { priority = StreamPriority(parsing: value) }
        fields.append(name: name, value: value, isNeverIndexed: isNeverIndexed)
    }

    private mutating func addPseudoField(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        let extent = Extent(offset: pseudo.count, count: value.count)
        pseudo.append(value)
        if name.equals(":method") {
            pseudoFields.method = extent
        } else if name.equals(":scheme") {
            pseudoFields.scheme = extent
        } else if name.equals(":authority") {
            pseudoFields.authority = extent
        } else if name.equals(":path") {
            pseudoFields.path = extent
        } else if name.equals(":protocol") {
            pseudoFields.connectProtocol = extent
        } else if name.equals(":status") {
            pseudoFields.status = Self.status(value)
            if pseudoFields.status == nil { isMalformed = true }
        } else {
            isMalformed = true
        }
    }

    private static func status(_ value: Span<UInt8>) -> UInt16? {
        guard value.count == 3 else { return nil }
        var code: UInt16 = 0
        for index in 0..<3 {
            guard ASCII.isDigit(value[index]) else { return nil }
            code = code * 10 + UInt16(value[index] - 0x30)
        }
        return code >= 100 ? code : nil
    }

    private mutating func addCookies(_ value: Span<UInt8>) {
        if hasCookies { cookies.append("; ") }
        cookies.append(value)
        hasCookies = true
    }

    private static let cookie = Array("cookie".utf8)

    /// Adds the joined cookies to the fields of a head.
    func addCookies(to fields: inout Fields) {
        if hasCookies { fields.append(name: Self.cookie.span, value: cookies.span, isNeverIndexed: areCookiesNeverIndexed) }
    }

    @_lifetime(borrow self)
    func pseudoSpan(of extent: Extent) -> Span<UInt8> { pseudo.span.extracting(extent.range) }
}
