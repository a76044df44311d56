import HTTPMessage

/// Default values for fields that a request does not set itself.
public enum DefaultFields {
    /// Maximum number of languages.
    public static let languageLimit = 6

    /// The value of Accept-Language (RFC 9110 §12.5.4) for languages in order of preference: `zh-Hans-CN;q=1, en;q=0.9`, down to 0.5.
    /// Invalid language ranges are left out.
    /// - Returns: `nil` if no language is left.
    public static func acceptLanguage(_ languages: [String]) -> String? {
        let ranges = languages.filter(isLanguageRange).prefix(languageLimit)
        if ranges.isEmpty { return nil }
        return ranges.enumerated().map { place, range in
            "\(range);q=\(place == 0 ? "1" : "0.\(10 - place)")"
        }.joined(separator: ", ")
    }

    /// Language ranges from system locale names, as in `LANGUAGE` and `LANG`: `de_DE.UTF-8` becomes `de-DE`. `C`, `POSIX` and
    /// repeated names are left out.
    public static func languages(ofLocales locales: [String]) -> [String] {
        var languages: [String] = []
        for locale in locales {
            let name = locale.prefix { $0 != "." && $0 != "@" }.split(separator: "_").joined(separator: "-")
            if name != "C" && name != "POSIX" && isLanguageRange(name) && !languages.contains(name) { languages.append(name) }
        }
        return languages
    }

    /// A User-Agent value (RFC 9110 §10.1.5): `Product/1.2 (comment)`. Letters outside ASCII lose their diacritics or are left
    /// out; characters of product and version that are not allowed in a token become hyphens.
    public static func userAgent(product: String, version: String? = nil, comment: String? = nil) -> String {
        var text = token(product)
        if let version { text += "/" + token(version) }
        if let comment {
            let escaped = ASCIIFold.folded(comment).map { character in
                "()\\".contains(character) ? "\\\(character)" : "\(character)"
            }
            text += " (" + escaped.joined() + ")"
        }
        return text
    }

    private static func token(_ text: String) -> String {
        let folded = ASCIIFold.folded(text).utf8.map { ASCII.isTokenCharacter($0) ? $0 : UInt8(ascii: "-") }
        return folded.isEmpty ? "-" : String(decoding: folded, as: UTF8.self)
    }

    /// Whether the text is a language range (RFC 4647 §2.1, §2.2): `*`, or parts of up to eight letters separated by hyphens. Parts
    /// after the first may also have digits and `*`.
    private static func isLanguageRange(_ text: String) -> Bool {
        if text == "*" { return true }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        for (place, part) in parts.enumerated() {
            guard (1...8).contains(part.count) else { return false }
            let isGood = part.allSatisfy { ASCII.isAlpha($0) || place > 0 && (ASCII.isDigit($0) || $0 == UInt8(ascii: "*")) }
            if !isGood { return false }
        }
        return true
    }
}

/// Converts text to ASCII: Latin letters lose their diacritics; all other characters above 127 are left out, and so are control
/// characters.
enum ASCIIFold {
    /// The ASCII form of each character from U+00C0 to U+017F; a period means that there is none.
    private static let latin = """
        A A A A A A AE C E E E E I I I I D N O O O O O . O U U U U Y TH ss a a a a a a ae c e e e e i i i i d n o o o o o . o u u u u y th y \
        A a A a A a C c C c C c C c D d D d E e E e E e E e E e G g G g G g G g H h H h I i I i I i I i I i IJ ij J j K k k \
        L l L l L l L l L l N n N n N n n N n O o O o O o OE oe R r R r R r S s S s S s S s T t T t T t U u U u U u U u U u U u \
        W w Y y Y Z z Z z Z z s
        """.split(separator: " ")

    static func folded(_ text: String) -> String {
        var folded = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x20..<0x7F: folded.unicodeScalars.append(scalar)
            case 0xC0...0x17F:
                let word = latin[Int(scalar.value) - 0xC0]
                if word != "." { folded += word }
            default: continue
            }
        }
        return folded
    }
}
