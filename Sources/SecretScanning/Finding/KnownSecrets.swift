import HTTPMessage

/// Values that were secrets in this run. They are found even if no name indicates them. They are kept only in memory.
///
/// A value is only remembered if it is unlikely to be anything else. One of three conditions must apply: it has at least 8 bytes
/// (6 for passwords) with letters and also digits or punctuation, it has at least 16 digits, or it has at least 20 bytes. If the
/// value's name has other meanings too, the value must have letters and digits. A word such as `disabled` or a number such as
/// `1234` is replaced only where its name indicates a secret.
struct KnownSecrets {
    /// The maximum number of values.
    static let limit = 16 << 10
    /// The maximum length of a value, in bytes.
    static let lengthLimit = 4096
    /// The maximum total length of all forms of all values, in bytes. A value whose forms do not fit is not remembered.
    static let formsLengthLimit = 128 << 20

    private struct Form {
        let octets: [UInt8]
        /// The secret that has this form. `nil` for a part of base64 text and for hexadecimal: the secret is then the surrounding text.
        let value: [UInt8]?
        /// Whether this form is also found within a longer word.
        let isLong: Bool
    }

    private var values: Set<[UInt8]> = []
    private var forms: [Form] = []
    private var formsLength = 0
    private let formsLengthLimit: Int
    /// The indices of the forms by their first four bytes; each list is sorted by the forms' bytes. Many secrets, such as JSON Web
    /// Tokens, have the same beginning. The order allows a binary search, so a text is compared with few of them. Of equal forms, the
    /// one learned first is last.
    private var byStart: [UInt32: [Int32]] = [:]
    /// Whether any form begins with these two bytes.
    private var mayBegin = [Bool](repeating: false, count: 1 << 16)

    init(formsLengthLimit: Int = Self.formsLengthLimit) { self.formsLengthLimit = formsLengthLimit }

    var isEmpty: Bool { values.isEmpty }

    /// Learns a value that is declared as a secret.
    mutating func learn(declared value: [UInt8]) -> Bool { learn(value, .password) }

    /// Learns the secrets found in a text.
    /// - Returns: whether any of them was new.
    mutating func learn(_ found: [FoundSecret], in text: [UInt8]) -> Bool {
        var isNew = false
        for secret in found where !secret.isPlaceholder {
            let value = secret.value ?? Array(text[secret.range])
            isNew = learn(value, secret.evidence ?? .named) || isNew
            isNew = learn(EscapedText.unescaped(value), secret.evidence ?? .named) || isNew
            guard secret.kind == .basic, let credentials = Base64.decode(value),
                let colon = credentials.firstIndex(of: ASCII.colon)
            else { continue }
            isNew = learn(Array(credentials[(colon + 1)...]), .password) || isNew
        }
        return isNew
    }

    private mutating func learn(_ value: [UInt8], _ evidence: SecretNames.Evidence) -> Bool {
        guard values.count < Self.limit, value.count <= Self.lengthLimit, Self.isDistinctive(value, evidence),
            !values.contains(value)
        else { return false }
        let (escaped, base64, hexadecimal) = (Self.escaped(value), Self.base64(of: value), Self.hexadecimal(of: value))
        let twice = Self.escapedTwice(escaped)
        let length = escaped.union(twice).union(base64).union(hexadecimal).reduce(0) { $0 + $1.count }
        guard formsLength + length <= formsLengthLimit else { return false }
        formsLength += length
        values.insert(value)
        for octets in escaped { add(Form(octets: octets, value: value, isLong: value.count >= 16)) }
        // At replay, a request has this text where the recording has the placeholder, so the placeholder is made from this text.
        for octets in twice { add(Form(octets: octets, value: octets, isLong: value.count >= 16)) }
        for octets in hexadecimal { add(Form(octets: octets, value: nil, isLong: true)) }
        for octets in base64 { add(Form(octets: octets, value: nil, isLong: true)) }
        return true
    }

    private mutating func add(_ form: Form) {
        forms.append(form)
        form.octets.withUnsafeBufferPointer { octets in
            let start = Self.start(octets, at: 0)
            var comparisons = 0
            let place = place(of: octets, in: byStart[start] ?? [], includingEqual: false, &comparisons)
            byStart[start, default: []].insert(Int32(forms.count - 1), at: place)
            mayBegin[Int(octets[0]) << 8 | Int(octets[1])] = true
        }
    }

    private static func start(_ octets: UnsafeBufferPointer<UInt8>, at place: Int) -> UInt32 {
        (place..<place + 4).reduce(0) { $0 << 8 | UInt32(octets[$1]) }
    }

    static func isDistinctive(_ value: [UInt8], _ evidence: SecretNames.Evidence) -> Bool {
        let letters = value.count(where: ASCII.isAlpha)
        let digits = value.count(where: ASCII.isDigit)
        // Spaces are not treated as punctuation: sentences contain them.
        let others = value.count { $0 > 0x20 && !ASCII.isAlpha($0) && !ASCII.isDigit($0) && !"-_.".utf8.contains($0) }
        let isMixed = letters > 0 && (digits > 0 || others > 0)
        switch evidence {
        case .password: return value.count >= 6 && isMixed || digits >= 16 || value.count >= 20
        case .named: return value.count >= 8 && isMixed || digits >= 16 || value.count >= 20
        case .random(let count): return value.count >= max(count, 8) && letters > 0 && digits > 0
        }
    }

    // MARK: Forms of a secret

    /// The value in plain text, and as escaped in URIs, forms, JSON and XML.
    private static func escaped(_ value: [UInt8]) -> Set<[UInt8]> {
        var forms: Set<[UInt8]> = [value]
        for isUppercase in [true, false] {
            // The unreserved characters of RFC 3986 §2.3, and others that browsers do not escape.
            for plain in ["-._~", "-._~!'()*", "-._~:/@", "*-._"] {
                forms.insert(percentEncoded(value, plain: Array(plain.utf8), isUppercase))
            }
        }
        let plus = percentEncoded(value, plain: Array("*-._ ".utf8), true).map { $0 == ASCII.space ? UInt8(ascii: "+") : $0 }
        forms.insert(plus)
        for escapesSlash in [false, true] {
            let once = jsonEscaped(value, escapesSlash: escapesSlash)
            forms.insert(once)
            forms.insert(jsonEscaped(once, escapesSlash: escapesSlash))
        }
        var text = String(decoding: value, as: UTF8.self)
        for (entity, character) in EscapedText.entities.reversed() { text = text.replacing(character, with: entity) }
        forms.insert(Array(text.utf8))
        forms.insert(Array(text.replacing("&apos;", with: "&#39;").utf8))
        return forms
    }

    /// The percent-encoded forms, encoded again, as in a URI that is a parameter of another URI.
    private static func escapedTwice(_ forms: Set<[UInt8]>) -> Set<[UInt8]> {
        let percent = UInt8(ascii: "%")
        let twice = forms.filter { $0.contains(percent) }.map { $0.flatMap { $0 == percent ? Array("%25".utf8) : [$0] } }
        return Set(twice).subtracting(forms)
    }

    private static func percentEncoded(_ value: [UInt8], plain: [UInt8], _ isUppercase: Bool) -> [UInt8] {
        value.flatMap { octet -> [UInt8] in
            if ASCII.isAlpha(octet) || ASCII.isDigit(octet) || plain.contains(octet) { return [octet] }
            let digits = [octet >> 4, octet & 0xF].map { Hexadecimal.digit($0, isUppercase: isUppercase) }
            return [UInt8(ascii: "%")] + digits
        }
    }

    private static func jsonEscaped(_ value: [UInt8], escapesSlash: Bool) -> [UInt8] {
        value.flatMap { octet -> [UInt8] in
            switch octet {
            case ASCII.quote, ASCII.backslash: [ASCII.backslash, octet]
            case ASCII.slash where escapesSlash: [ASCII.backslash, octet]
            case ASCII.lf: Array("\\n".utf8)
            case ASCII.cr: Array("\\r".utf8)
            case ASCII.tab: Array("\\t".utf8)
            default: [octet]
            }
        }
    }

    /// The value in hexadecimal, with digits in lower and in upper case.
    private static func hexadecimal(of value: [UInt8]) -> Set<[UInt8]> {
        Set([false, true].map { Array(Hexadecimal.encode(value, isUppercase: $0).utf8) })
    }

    /// The part of the value's base64 form that does not depend on the bytes around the value, for each of the three possible
    /// alignments.
    private static func base64(of value: [UInt8]) -> Set<[UInt8]> {
        var forms: Set<[UInt8]> = []
        for offset in 0..<3 {
            let text = Array(Base64.encode([UInt8](repeating: 0, count: offset) + value).utf8)
            // Skips characters that contain bits of the preceding bytes, and the characters of an incomplete group.
            let start = [0, 2, 3][offset]
            let end = (offset + value.count) * 8 / 6
            guard end - start >= 8 else { continue }
            let form = Array(text[start..<end])
            forms.insert(form)
            forms.insert(form.map(Base64.letterForURL))
        }
        return forms
    }

    // MARK: Finding known secrets

    /// The known secrets in a text, in order and without overlaps.
    func found(in text: [UInt8]) -> [FoundSecret] {
        var comparisons = 0
        return found(in: text, &comparisons)
    }

    /// - Parameter comparisons: increased by the number of comparisons of a form with the text.
    func found(in text: [UInt8], _ comparisons: inout Int) -> [FoundSecret] {
        if values.isEmpty { return [] }
        var found: [FoundSecret] = []
        text.withUnsafeBufferPointer { octets in
            var place = 0
            while place + 4 <= octets.count {
                guard mayBegin[Int(octets[place]) << 8 | Int(octets[place + 1])],
                    let secret = secret(in: octets, at: place, behind: found.last?.range.upperBound ?? 0, &comparisons)
                else {
                    place += 1
                    continue
                }
                found.append(secret)
                place = secret.range.upperBound
            }
        }
        return found
    }

    /// The secret with the longest form that begins at a position of the text. All forms that are prefixes of the text sort before
    /// the text, the longest of them last.
    private func secret(
        in octets: UnsafeBufferPointer<UInt8>, at place: Int, behind last: Int, _ comparisons: inout Int
    ) -> FoundSecret? {
        guard let numbers = byStart[Self.start(octets, at: place)] else { return nil }
        var rest = UnsafeBufferPointer(rebasing: octets[place...])
        var index = self.place(of: rest, in: numbers, includingEqual: true, &comparisons) - 1
        while index >= 0 {
            let form = forms[Int(numbers[index])]
            comparisons += 1
            let common = Self.commonLength(form.octets, rest)
            guard common == form.octets.count else {
                // A shorter form that is also a prefix of the text lies within the common beginning of this form and the text.
                rest = UnsafeBufferPointer(rebasing: rest[..<common])
                index = min(self.place(of: rest, in: numbers, includingEqual: true, &comparisons), index) - 1
                continue
            }
            let range = place..<place + common
            guard form.isLong || isWhole(range, octets) else {
                index -= 1
                continue
            }
            guard let value = form.value else {
                return FoundSecret(range: runOfBase64(around: range, octets, behind: last), kind: .opaque, isPlaceholder: false)
            }
            return FoundSecret(range: range, kind: .opaque, isPlaceholder: false, value: value)
        }
        return nil
    }

    /// The number of forms that sort before a text.
    /// - Parameter includingEqual: whether a form equal to the text is counted too.
    private func place(
        of text: UnsafeBufferPointer<UInt8>, in numbers: [Int32], includingEqual: Bool, _ comparisons: inout Int
    ) -> Int {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            let form = forms[Int(numbers[middle])].octets
            comparisons += 1
            let common = Self.commonLength(form, text)
            let isBefore =
                common < form.count && common < text.count
                ? form[common] < text[common] : form.count < text.count || includingEqual && form.count == text.count
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func commonLength(_ form: [UInt8], _ text: UnsafeBufferPointer<UInt8>) -> Int {
        let limit = min(form.count, text.count)
        var length = 0
        while length < limit, form[length] == text[length] { length += 1 }
        return length
    }

    /// Whether the range begins and ends at word boundaries.
    private func isWhole(_ range: Range<Int>, _ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        let begins =
            range.lowerBound == 0 || !ASCII.isWord(octets[range.lowerBound]) || !ASCII.isWord(octets[range.lowerBound - 1])
            || EscapedText.endsEscape(in: octets, at: range.lowerBound)
        return begins && (!ASCII.isWord(octets[range.upperBound - 1]) || !octets.continuesWord(at: range.upperBound))
    }

    private func runOfBase64(
        around range: Range<Int>, _ octets: UnsafeBufferPointer<UInt8>, behind last: Int
    ) -> Range<Int> {
        func isOfBase64(_ octet: UInt8) -> Bool { ASCII.isWord(octet) || "+/-".utf8.contains(octet) }
        var start = range.lowerBound
        while start > last, isOfBase64(octets[start - 1]), range.lowerBound - start < SecretScan.tokenLengthLimit { start -= 1 }
        var end = octets.end(from: range.upperBound, limit: SecretScan.tokenLengthLimit, while: isOfBase64)
        end = octets.end(from: end, limit: 2) { $0 == ASCII.equals }
        return start..<end
    }
}
