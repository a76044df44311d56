import HTTPMessage

/// A host as rules name it: `example.com` is that host alone, `*.example.com` each host below it (not itself), `*` any.
package struct HostPattern: Equatable, Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case any, exact, suffix }

    package enum Fault: Error, Equatable {
        case empty, tooLong
        /// A scheme, a path or credentials stand in it.
        case moreThanHost
        /// The port has a key of its own.
        case port
        case starNotInFront
        case emptyLabel
        case notInHosts(Unicode.Scalar)
    }

    /// The longest name of DNS in text form (RFC 1035 §2.3.4).
    package static let longest = 253

    package let kind: Kind
    /// In lower case, without a trailing dot, without brackets; for `*.example.com` what stands behind the star and its dot.
    package let name: [UInt8]

    package init(_ text: String) throws(Fault) {
        if text == "*" {
            kind = .any
            name = []
            return
        }
        let isSuffix = text.hasPrefix("*.")
        var name = Substring(isSuffix ? text.dropFirst(2) : text[...])
        if name.hasSuffix(".") { name.removeLast() }
        guard !name.isEmpty else { throw .empty }
        guard name.utf8.count <= Self.longest else { throw .tooLong }
        kind = isSuffix ? .suffix : .exact
        self.name = try Self.isAddress(name) && !isSuffix ? Self.address(name) : Self.name(name)
    }

    private static func isAddress(_ text: Substring) -> Bool {
        text.hasPrefix("[") || text.utf8.count { $0 == ASCII.colon } > 1
    }

    /// The text of an IPv6 address, without its brackets.
    private static func address(_ text: Substring) throws(Fault) -> [UInt8] {
        let inner = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text
        guard !inner.isEmpty, !inner.contains("[") else { throw .port }
        for scalar in inner.unicodeScalars {
            let isAllowed = scalar.properties.isASCIIHexDigit || scalar == ":" || scalar == "."
            guard isAllowed else { throw .notInHosts(scalar) }
        }
        return inner.utf8.map(ASCII.lowercased)
    }

    private static func name(_ text: Substring) throws(Fault) -> [UInt8] {
        if text.contains("/") || text.contains("@") { throw .moreThanHost }
        if text.contains(":") { throw .port }
        if text.contains("*") { throw .starNotInFront }
        if text.hasPrefix(".") || text.contains("..") { throw .emptyLabel }
        for scalar in text.unicodeScalars {
            let isAllowed = scalar.isASCII && (ASCII.isAlpha(UInt8(scalar.value)) || ASCII.isDigit(UInt8(scalar.value)))
            guard isAllowed || scalar == "-" || scalar == "_" || scalar == "." else { throw .notInHosts(scalar) }
        }
        return text.utf8.map(ASCII.lowercased)
    }
}
