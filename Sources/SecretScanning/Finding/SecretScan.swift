import HTTPMessage

/// A secret, or a placeholder, in a text.
package struct FoundSecret: Equatable {
    package let range: Range<Int>
    package let kind: SecretKind
    /// Whether the secret is already a placeholder.
    package let isPlaceholder: Bool
    /// The unescaped secret; `nil` if the secret contains no escapes.
    package var value: [UInt8]?
    /// Text added on both sides of the placeholder: the quotes that a JSON number lacks.
    var quote: [UInt8] = []
    /// The byte order of the text that contains the secret, if it is in UTF-16. The placeholder is then written in UTF-16 too.
    var byteOrder: UTF16Text.ByteOrder?
    /// How strongly a name indicates the secret; `nil` if the secret's form indicates it.
    var evidence: SecretNames.Evidence?
}

extension FoundSecret {
    /// A secret that no name indicates.
    package init(range: Range<Int>, kind: SecretKind, isPlaceholder: Bool) {
        self.init(range: range, kind: kind, isPlaceholder: isPlaceholder, value: nil)
    }
}

/// Searches any text for secrets: tokens with a known form, and values of names that RFC 6749, RFC 7523, RFC 7636 and AWS define for
/// secrets. The search takes one pass over the bytes, and does not guess from randomness. Names whose meaning depends on the text's
/// structure are left to `SecretFinder`.
package enum SecretScan {
    /// The minimum length of a named value or of `Basic` credentials, in bytes: shorter values are words such as `none`.
    static let valueLengthFloor = 8
    /// The maximum length of a token, in bytes. Longer tokens are cut, since no header field is longer.
    package static let tokenLengthLimit = 64 << 10

    /// Members of JSON objects, and fields of forms and queries, whose values are secrets. Names are compared without regard to case.
    static let names: [[UInt8]] = [
        "access_token", "refresh_token", "id_token", "client_secret", "client_assertion", "assertion", "code_verifier",
        "device_code",
        "password", "passwd", "api_key", "apikey", "private_key", "secretaccesskey", "sessiontoken", "aws_secret_access_key",
        "aws_session_token", "x-amz-security-token", "x-amz-signature", "x-amz-credential",
    ].map { Array($0.utf8) }

    /// All secrets, in order and without overlaps.
    static func secrets(in text: [UInt8]) -> [FoundSecret] {
        var found: [FoundSecret] = []
        text.withUnsafeBufferPointer { octets in
            var place = 0
            while place < octets.count {
                guard Self.mayBegin[Int(octets[place])], let secret = secret(in: octets, at: place) else {
                    place += 1
                    continue
                }
                found.append(secret)
                place = secret.range.upperBound
            }
        }
        return found
    }

    /// The bytes at which a secret, or the name of one, may begin.
    private static let mayBegin: [Bool] = {
        var table = [Bool](repeating: false, count: 256)
        for octet in "eAgx-BbTtl/".utf8 { table[Int(octet)] = true }
        for form in TokenForm.all { table[Int(form.prefix[0])] = true }
        for name in names {
            table[Int(name[0])] = true
            table[Int(name[0] ^ 0x20)] = true
        }
        return table
    }()

    /// The names by their first byte, so that few of them are compared with each word.
    private static let namesByFirstOctet: [[[UInt8]]] = (0...255).map { octet in
        names.filter { $0[0] == ASCII.lowercased(UInt8(octet)) }
    }

    // These arrays are made only once, because each word of a body may be compared with them.
    private static let webTokenStart = Array("eyJ".utf8)
    private static let awsKeyIDStarts = ["AKIA", "ASIA"].map { Array($0.utf8) }
    private static let fineGrainedStart = Array("github_pat_".utf8)
    private static let slackStart = Array("xox".utf8)
    private static let keyOpening = Array("-----BEGIN".utf8)
    private static let keyClosing = Array("-----END".utf8)
    private static let keyWords = (Array("PRIVATE".utf8), Array("KEY".utf8))
    private static let dashes = Array("-----".utf8)
    private static let schemes = [
        (name: Array("bearer".utf8), isBasic: false, shortest: 3), (name: Array("basic".utf8), isBasic: true, shortest: 4),
        // `token` is a common word, so short words after it do not count.
        (name: Array("token".utf8), isBasic: false, shortest: 8),
    ]

    private static func secret(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        if octets[place] == ASCII.slash { return WebhookPath.secret(in: octets, at: place) }
        // A token does not begin within a word.
        if place > 0, ASCII.isWord(octets[place - 1]), !EscapedText.endsEscape(in: octets, at: place) { return nil }
        return token(in: octets, at: place) ?? scheme(in: octets, at: place) ?? named(in: octets, at: place)
    }

    // MARK: Tokens with a known form

    static func token(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        knownToken(in: octets, at: place) ?? TokenForm.token(in: octets, at: place)
    }

    private static func knownToken(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        switch octets[place] {
        case UInt8(ascii: "e"): webToken(in: octets, at: place)
        case UInt8(ascii: "A"): awsKeyID(in: octets, at: place)
        case UInt8(ascii: "g"): gitHubToken(in: octets, at: place)
        case UInt8(ascii: "x"): slackToken(in: octets, at: place)
        case UInt8(ascii: "-"): privateKey(in: octets, at: place)
        case UInt8(ascii: "l"): placeholder(in: octets, at: place)
        default: nil
        }
    }

    /// The placeholder of an opaque secret: `SecretMark.word` and 32 hexadecimal digits.
    private static func placeholder(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        guard octets.holds(SecretMark.word, at: place) else { return nil }
        let end = octets.end(from: place + SecretMark.word.count, limit: 32) { ASCII.hexValue($0) != nil }
        guard end - place == SecretMark.word.count + 32 else { return nil }
        return FoundSecret(range: place..<end, kind: .opaque, isPlaceholder: true)
    }

    private static func webToken(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        // `eyJ` is the base64 form of `{"`.
        guard octets.holds(webTokenStart, at: place) else { return nil }
        let header = octets.end(from: place, limit: tokenLengthLimit, while: isBase64URL)
        guard header - place >= 10, octets.holds([0x2E], at: header) else { return nil }
        let payload = octets.end(from: header + 1, limit: tokenLengthLimit, while: isBase64URL)
        guard payload - header > 4, octets.holds([0x2E], at: payload) else { return nil }
        let end = octets.end(from: payload + 1, limit: tokenLengthLimit, while: isBase64URL)
        return FoundSecret(
            range: place..<end, kind: .webToken, isPlaceholder: octets.holds(SecretMark.tokenHeader, at: place))
    }

    private static func awsKeyID(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        guard awsKeyIDStarts.contains(where: { octets.holds($0, at: place) }) else { return nil }
        let end = octets.end(from: place + 4, limit: 17) { ASCII.isUppercase($0) || ASCII.isDigit($0) }
        guard end - place == 20, !octets.continuesWord(at: end) else { return nil }
        return FoundSecret(
            range: place..<end, kind: .awsKeyID, isPlaceholder: octets.holds(SecretMark.capitals, at: place + 4))
    }

    private static func gitHubToken(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        let fineGrained = fineGrainedStart
        if octets.holds(fineGrained, at: place) {
            let end = octets.end(from: place + fineGrained.count, limit: 83, while: ASCII.isWord)
            guard end - place == fineGrained.count + 82 else { return nil }
            return FoundSecret(
                range: place..<end, kind: .gitHubToken,
                isPlaceholder: octets.holds(SecretMark.word, at: place + fineGrained.count))
        }
        guard place + 4 < octets.count, octets[place + 1] == UInt8(ascii: "h"), "pousr".utf8.contains(octets[place + 2]),
            octets[place + 3] == UInt8(ascii: "_")
        else { return nil }
        let end = octets.end(from: place + 4, limit: 256) { ASCII.isAlpha($0) || ASCII.isDigit($0) }
        guard end - place >= 40, !octets.continuesWord(at: end) else { return nil }
        return FoundSecret(range: place..<end, kind: .gitHubToken, isPlaceholder: octets.holds(SecretMark.word, at: place + 4))
    }

    private static func slackToken(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        guard place + 5 < octets.count, octets.holds(slackStart, at: place), "abeoprs".utf8.contains(octets[place + 3]),
            octets[place + 4] == UInt8(ascii: "-")
        else { return nil }
        let end = octets.end(from: place + 5, limit: 512) { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == UInt8(ascii: "-") }
        guard end - place >= 20 else { return nil }
        return FoundSecret(range: place..<end, kind: .slackToken, isPlaceholder: octets.holds(SecretMark.word, at: place + 5))
    }

    private static func privateKey(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        guard octets.holds(keyOpening, at: place),
            let blank = EscapedText.blank(in: octets, at: place + keyOpening.count)
        else { return nil }
        let start = place + keyOpening.count
        var label = start
        while label < octets.count, label - start < 60 {
            if octets.holds(blank, at: label) {
                label += blank.count
            } else if ASCII.isUppercase(octets[label]) {
                label += 1
            } else {
                break
            }
        }
        let word = keyWords.0 + blank + keyWords.1
        guard label - word.count >= start, octets.holds(word, at: label - word.count), octets.holds(dashes, at: label) else {
            return nil
        }
        let closing = keyClosing + octets[start..<label] + dashes
        var end = label + dashes.count
        var limit = min(octets.count, end + tokenLengthLimit)
        // A form field does not continue past these bytes.
        if blank != [ASCII.space] { limit = octets.end(from: end, limit: limit - end) { !"&\" \r\n".utf8.contains($0) } }
        while end < limit, !octets.holds(closing, at: end) { end += 1 }
        // If the last line of a key is missing, everything up to the end of the text is a secret.
        end = octets.holds(closing, at: end) ? end + closing.count : limit
        var mark = label + dashes.count
        if octets.holds(EscapedText.lineFeed, at: mark) { mark += EscapedText.lineFeed.count }
        while mark < end, !ASCII.isAlpha(octets[mark]), octets[mark] != UInt8(ascii: "-") { mark += 1 }
        // In JSON, an escaped line feed ends with the letter `n`.
        if mark < end, octets[mark] == UInt8(ascii: "n"), octets.holds(SecretMark.word, at: mark + 1) { mark += 1 }
        return FoundSecret(range: place..<end, kind: .privateKey, isPlaceholder: octets.holds(SecretMark.word, at: mark))
    }

    // MARK: Values after a word

    /// The credential after `Bearer`, `Basic` (RFC 6750 §2.1, RFC 7617 §2) or `Token`.
    private static func scheme(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        for (name, isBasic, shortest) in schemes where octets.holds(name, ignoringCaseAt: place) {
            guard let blank = EscapedText.blank(in: octets, at: place + name.count) else { return nil }
            let start = place + name.count + blank.count
            var end = EscapedText.endOfToken68(in: octets, from: start, behind: blank)
            // A dot ends a sentence.
            while !isBasic, end > start, octets[end - 1] == UInt8(ascii: ".") { end -= 1 }
            guard
                isCredential(octets[start..<end], shortest: shortest, isPlain: blank == [ASCII.space])
                    || isBasic && end - start >= 8
            else { return nil }
            if let token = token(in: octets, at: start), token.range == start..<end { return token }
            if isBasic, !BasicSecret.isCredentials(EscapedText.unescaped(octets[start..<end])) { return nil }
            let isOurs = isBasic ? BasicSecret.isPlaceholder(octets[start..<end]) : octets.holds(SecretMark.word, at: start)
            return FoundSecret(range: start..<end, kind: isBasic ? .basic : .opaque, isPlaceholder: isOurs)
        }
        return nil
    }

    /// Whether a word after the name of a scheme is a credential, and not a word of a sentence: it is long, or it has letters and
    /// digits.
    /// - Parameter isPlain: whether a plain space precedes. In queries, as in `q=bearer+a1`, short words count as words of a sentence.
    private static func isCredential(_ word: Slice<UnsafeBufferPointer<UInt8>>, shortest: Int, isPlain: Bool) -> Bool {
        if word.count >= 16, shortest < 8 || isPlain, word.contains(where: isNoSmallLetter) { return true }
        return isPlain && word.count >= shortest && word.contains(where: ASCII.isAlpha) && word.contains(where: ASCII.isDigit)
    }

    /// The value of one of `names`, in JSON, a form or a query.
    private static func named(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        for name in namesByFirstOctet[Int(octets[place])] where octets.holds(name, ignoringCaseAt: place) {
            let behind = place + name.count
            guard behind < octets.count else { return nil }
            var range: Range<Int>?
            if EscapedText.beginsField(in: octets, at: place),
                let value = EscapedText.fieldValue(in: octets, behindNameEndingAt: behind)
            {
                range = value
            } else if octets[behind] == ASCII.quote, place > 0, octets[place - 1] == ASCII.quote {
                range = octets.stringValue(behindNameEndingAt: behind)
            }
            guard let range, range.count >= valueLengthFloor else { continue }
            if let token = token(in: octets, at: range.lowerBound), token.range == range { return token }
            return FoundSecret(range: range, kind: .opaque, isPlaceholder: octets.holds(SecretMark.word, at: range.lowerBound))
        }
        return nil
    }

    private static func isBase64URL(_ octet: UInt8) -> Bool { ASCII.isWord(octet) || octet == UInt8(ascii: "-") }
    private static func isNoSmallLetter(_ octet: UInt8) -> Bool { !ASCII.isAlpha(octet) || ASCII.isUppercase(octet) }
    /// Whether a byte may be in a token68 (RFC 9110 §11.2).
    static func isToken68(_ octet: UInt8) -> Bool { isBase64URL(octet) || ".~+/=".utf8.contains(octet) }
}

/// Credentials in the form `user:password`, in base64.
enum BasicSecret {
    static func isCredentials(_ text: some Collection<UInt8>) -> Bool {
        Base64.decode(Array(text))?.contains(ASCII.colon) ?? false
    }

    static func isPlaceholder(_ text: some Collection<UInt8>) -> Bool {
        Base64.decode(Array(text))?.starts(with: Array("larder:".utf8) + SecretMark.word) ?? false
    }
}

extension UnsafeBufferPointer<UInt8> {
    @inlinable package func holds(_ text: [UInt8], at place: Int) -> Bool {
        guard place >= 0, count - place >= text.count else { return false }
        for index in text.indices where self[place + index] != text[index] { return false }
        return true
    }

    /// - Parameter text: the text to compare with, in lower case.
    func holds(_ text: [UInt8], ignoringCaseAt place: Int) -> Bool {
        guard count - place >= text.count else { return false }
        for index in text.indices where ASCII.lowercased(self[place + index]) != text[index] { return false }
        return true
    }

    @inlinable package func end(from place: Int, limit: Int, while holds: (UInt8) -> Bool) -> Int {
        var end = place
        while end < count, end - place < limit, holds(self[end]) { end += 1 }
        return end
    }

    @inlinable package func continuesWord(at place: Int) -> Bool {
        place < count && ASCII.isWord(self[place])
    }

    /// The string after a name in a JSON text, without its quotes.
    fileprivate func stringValue(behindNameEndingAt quote: Int) -> Range<Int>? {
        func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }
        let colon = end(from: quote + 1, limit: 64, while: isBlank)
        guard colon < count, self[colon] == ASCII.colon else { return nil }
        let start = end(from: colon + 1, limit: 64, while: isBlank)
        guard start < count, self[start] == ASCII.quote else { return nil }
        var end = start + 1
        while end < count, end - start < SecretScan.tokenLengthLimit, self[end] != ASCII.quote {
            end += self[end] == ASCII.backslash ? 2 : 1
        }
        return start + 1..<Swift.min(end, count)
    }
}
