import HTTPMessage

/// A Set-Cookie field as received, before the checks that decide whether it is stored (RFC 6265 §5.2).
struct SetCookie: Equatable {
    static let lengthLimit = 4096
    static let attributeLimit = 1024

    let name: String
    let value: String
    /// The Expires attribute, in seconds since 1970.
    var expires: Int64?
    /// The Max-Age attribute, in seconds from now.
    var maxAge: Int64?
    var domain: String?
    var path: String?
    var isSecure = false
    var isHTTPOnly = false

    /// - Returns: `nil` if the cookie has no name, is too long, or contains a control character.
    init?(_ field: String) {
        guard !field.utf8.contains(where: { $0 < 0x20 && $0 != ASCII.tab || $0 == 0x7F }) else { return nil }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let equals = parts[0].firstIndex(of: "=") else { return nil }
        name = parts[0][..<equals].trimmingBlanks
        value = parts[0][parts[0].index(after: equals)...].trimmingBlanks
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.lengthLimit else { return nil }
        for part in parts.dropFirst() { read(part) }
    }

    /// Whether a Set-Cookie field can have a cookie with this name and value.
    static func permits(name: String, value: String) -> Bool {
        let field = SetCookie("\(name)=\(value)")
        return field?.name == name && field?.value == value
    }

    /// Parses one attribute. If an attribute is repeated, the last one is used.
    private mutating func read(_ part: Substring) {
        let equals = part.firstIndex(of: "=")
        let name = part[..<(equals ?? part.endIndex)].trimmingBlanks.lowercased()
        let value = equals.map { part[part.index(after: $0)...].trimmingBlanks } ?? ""
        guard value.utf8.count <= Self.attributeLimit else { return }
        switch name {
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "max-age": if let seconds = Self.seconds(value) { maxAge = seconds }
        case "domain":
            let bare = value.hasPrefix(".") ? String(value.dropFirst()) : value
            if !bare.isEmpty { domain = bare.lowercased() }
        case "path": path = value.hasPrefix("/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// A number that overflows is clamped to the smallest or largest `Int64`.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : Substring(text)
        guard !digits.isEmpty, digits.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int64(text) ?? (text.hasPrefix("-") ? .min : .max)
    }
}

/// Parses the dates in cookies; the parts of a date may be in any order (RFC 6265 §5.1.1).
enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// - Returns: seconds since 1970.
    static func parse(_ text: String) -> Int64? {
        var time: (Int, Int, Int)?
        var (day, month, year): (Int?, Int?, Int?) = (nil, nil, nil)
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            let word = String(decoding: token, as: UTF8.self)
            if time == nil, let found = clock(word) {
                time = found
            } else if day == nil, let found = leadingNumber(word, digits: 1...2) {
                day = found
            } else if month == nil, let found = months.firstIndex(of: String(word.prefix(3)).lowercased()) {
                month = found + 1
            } else if year == nil, let found = leadingNumber(word, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        guard (1...31).contains(day), year >= 1601, time.0 <= 23, time.1 <= 59, time.2 <= 59, day <= length(of: month, in: year)
        else { return nil }
        return days(year, month, day) * 86_400 + Int64(time.0 * 3600 + time.1 * 60 + time.2)
    }

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a time `h:m:s`. Each number has one or two digits; anything except a digit may follow.
    private static func clock(_ word: String) -> (Int, Int, Int)? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = leadingNumber(String(parts[0]), digits: 1...2, whole: true),
            let minute = leadingNumber(String(parts[1]), digits: 1...2, whole: true),
            let second = leadingNumber(String(parts[2]), digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func leadingNumber(_ word: String, digits: ClosedRange<Int>, whole: Bool = false) -> Int? {
        let number = word.utf8.prefix { ASCII.isDigit($0) }
        guard digits.contains(number.count), !whole || number.count == word.utf8.count else { return nil }
        return Int(String(decoding: Array(number), as: UTF8.self))
    }

    private static func length(of month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The number of days since 1970-01-01, in the Gregorian calendar.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return Int64(era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468)
    }
}
