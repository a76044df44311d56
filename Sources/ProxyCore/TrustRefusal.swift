import HTTPMessage

/// Why a host is not trusted, for the person who has to fix it: the server's certificates, the settings' expectations, if any, and advice.
///
/// Data from the server is hostile: here every text becomes printable ASCII of bounded length, and each writer escapes it for its format
/// (T41).
package final class TrustRefusal: Sendable {
    /// The certificate at fault.
    package struct Certificate: Sendable {
        /// The certificate's position in the chain; 0 is the server's certificate.
        package let position: Int
        package let subject: String
        package let issuer: String
        package let names: Excerpt
        /// The date in RFC 3339 format; empty if it cannot be parsed.
        package let notBefore: String
        package let notAfter: String
        package let serialNumber: String
        /// `sha256/…` of the certificate's SubjectPublicKeyInfo (RFC 7469 §2.4).
        package let key: String
        /// `sha256/…` of the whole certificate.
        package let digest: String

        package init(
            position: Int, subject: String, issuer: String, names: [String], notBefore: String, notAfter: String,
            serialNumber: String, key: String, digest: String
        ) {
            self.position = position
            self.subject = TrustRefusal.plain(subject, limit: TrustRefusal.nameLimit)
            self.issuer = TrustRefusal.plain(issuer, limit: TrustRefusal.nameLimit)
            self.names = Excerpt(names, count: TrustRefusal.namesLimit)
            self.notBefore = notBefore
            self.notAfter = notAfter
            self.serialNumber = TrustRefusal.plain(serialNumber, limit: TrustRefusal.lineLimit)
            self.key = key
            self.digest = digest
        }
    }

    /// The first few of several texts, and the number of the remaining texts.
    package struct Excerpt: Sendable {
        package let texts: [String]
        package let more: Int

        package init(_ all: [String], count: Int) {
            texts = all.prefix(count).map { TrustRefusal.plain($0, limit: TrustRefusal.lineLimit) }
            more = all.count - texts.count
        }

        /// The texts in a form such as `a, b and 3 more`, with `separator` between them; empty if there are no texts.
        package func joined(_ separator: String = ", ") -> String {
            texts.joined(separator: separator) + (more > 0 ? " and \(more) more" : "")
        }
    }

    /// A word of the closed list in docs/trust.md.
    package let reason: StaticToken
    package let host: String
    /// The place of the policy in the settings, `larder.yaml:14:5`, without the folder (T41); empty if the policy has no place.
    package let place: String
    package let certificate: Certificate?
    /// `sha256/…` of the server's key; empty if the server sent none.
    package let serverKey: String
    package let expected: Excerpt
    package let seen: Excerpt
    /// What is wrong, and what to do: one or two sentences.
    package let advice: String

    /// - Parameters:
    ///   - source: the place in the settings, optionally with a folder.
    ///   - advice: advice for the user; it must be made of texts that `plain` returned.
    package init(
        reason: StaticToken, host: String, source: String, certificate: Certificate? = nil, serverKey: String = "",
        expected: [String] = [], seen: [String] = [], advice: String
    ) {
        self.reason = reason
        self.host = Self.plain(host, limit: Self.lineLimit)
        place = Self.place(source)
        self.certificate = certificate
        self.serverKey = serverKey
        self.expected = Excerpt(expected, count: Self.digestsLimit)
        self.seen = Excerpt(seen, count: Self.digestsLimit)
        self.advice = Self.plain(advice, limit: Self.adviceLimit)
    }

    package static let lineLimit = 255, nameLimit = 512, namesLimit = 20, digestsLimit = 16, adviceLimit = 4096

    /// Replaces all but printable ASCII by `?`, and truncates longer texts.
    package static func plain(_ text: String, limit: Int) -> String {
        String(decoding: text.utf8.prefix(limit).map { (0x20...0x7E).contains($0) ? $0 : ASCII.question }, as: UTF8.self)
    }

    /// Returns the place with the file's name alone, because clients must not learn folders of this machine.
    package static func place(_ source: String) -> String {
        plain(source.split(separator: "/").last.map(String.init) ?? "", limit: lineLimit)
    }
}

// MARK: Writing

extension TrustRefusal {
    /// The value of `tls` in problem details.
    func writeJSON(into output: inout [UInt8]) {
        output.append("{\"reason\":\"")
        output.append(reason.text)
        output.append("\"")
        Self.write("host", host, into: &output)
        Self.write("policy", place, into: &output)
        Self.write("server_key", serverKey, into: &output)
        if let certificate {
            output.append(",\"certificate\":{\"position\":")
            output.append(decimal: UInt64(max(0, certificate.position)))
            for (name, value) in certificate.members { Self.write(name, value, into: &output) }
            Self.write("names", "more_names", certificate.names, into: &output)
            output.append("}")
        }
        Self.write("expected", "more_expected", expected, into: &output)
        Self.write("seen", "more_seen", seen, into: &output)
        Self.write("advice", advice, into: &output)
        output.append("}")
    }

    /// The refusal as labeled lines of text, for users.
    var lines: [(StaticString, String)] {
        var lines: [(StaticString, String)] = [("advice", advice), ("policy", place)]
        if let certificate {
            lines += certificate.members.map { ($0.name, $0.value) }
            lines.append(("names", certificate.names.joined()))
        }
        return lines + [("server key", serverKey), ("expected", expected.joined()), ("seen", seen.joined())]
    }

    private static func write(_ name: StaticString, _ value: String, into output: inout [UInt8]) {
        if value.isEmpty { return }
        output.append(",\"")
        output.append(name)
        output.append("\":\"")
        output.append(escapingForJSON: value)
        output.append("\"")
    }

    private static func write(
        _ name: StaticString, _ moreName: StaticString, _ excerpt: Excerpt, into output: inout [UInt8]
    ) {
        if excerpt.texts.isEmpty { return }
        output.append(",\"")
        output.append(name)
        output.append("\":[")
        for (index, text) in excerpt.texts.enumerated() {
            output.append(index == 0 ? "\"" : ",\"")
            output.append(escapingForJSON: text)
            output.append("\"")
        }
        output.append("]")
        if excerpt.more == 0 { return }
        output.append(",\"")
        output.append(moreName)
        output.append("\":")
        output.append(decimal: UInt64(excerpt.more))
    }
}

extension TrustRefusal.Certificate {
    fileprivate var members: [(name: StaticString, value: String)] {
        [
            ("subject", subject), ("issuer", issuer), ("not_before", notBefore), ("not_after", notAfter),
            ("serial", serialNumber), ("key", key), ("sha256", digest),
        ]
    }
}

extension TrustRefusal {
    /// The refusal of a plain-text request to a host with pinned keys.
    package convenience init(plaintextTo host: String, source: String, expected: [String]) {
        let place = Self.place(source)
        let host = Self.plain(host, limit: Self.lineLimit)
        self.init(
            reason: "plaintext_to_pinned_host", host: host, source: source, expected: expected,
            advice:
                "The settings\(place.isEmpty ? "" : " (\(place))") pin the keys of \(host), and plain http cannot verify keys. Request the https URL, or upgrade the request by a rule: `request: {upgrade: https}`."
        )
    }
}
