import HTTPMessage

/// Values of fields that a request carries where it does not have its own.
public enum DefaultFields {
    /// How many languages are named at most.
    public static let languageLimit = 6

    /// Languages in the order in which they are liked, for Accept-Language (RFC 9110 §12.5.4): `zh-Hans-CN;q=1, en;q=0.9`,
    /// down to 0.5. What is no language range is left out.
    /// - Returns: `nil` where none is left.
    public static func acceptLanguage(_ languages: [String]) -> String? {
        let ranges = languages.filter(isLanguageRange).prefix(languageLimit)
        if ranges.isEmpty { return nil }
        return ranges.enumerated().map { place, range in
            "\(range);q=\(place == 0 ? "1" : "0.\(10 - place)")"
        }.joined(separator: ", ")
    }

    /// Language ranges out of a system's words for them, as they stand in `LANGUAGE` and `LANG`: `de_DE.UTF-8` is `de-DE`. `C` and
    /// `POSIX` are none, and each is named once.
    public static func languages(ofLocales locales: [String]) -> [String] {
        var languages: [String] = []
        for locale in locales {
            let name = locale.prefix { $0 != "." && $0 != "@" }.split(separator: "_").joined(separator: "-")
            if name != "C" && name != "POSIX" && isLanguageRange(name) && !languages.contains(name) { languages.append(name) }
        }
        return languages
    }

    /// A User-Agent (RFC 9110 §10.1.5): `Product/1.2 (comment)`. What is no ASCII is written without its marks, or left out; what is no
    /// token in product and version becomes a hyphen.
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

    /// RFC 4647 §2.1: `*`, or letters, then letters and digits, up to eight each, with hyphens between.
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

/// Writes text in ASCII: letters of Latin without their marks, everything else above 127 left out, controls too.
enum ASCIIFold {
    /// U+00C0 to U+017F, one word each; a point for none.
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
