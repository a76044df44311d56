/// Reads the members of an object, and rejects unknown ones. Missing members keep their defaults.
struct StrictContainer<Key: CodingKey & CaseIterable> {
    private let container: KeyedDecodingContainer<Key>

    /// - Throws: `DecodingError` with the path of the first unknown member.
    init(_ decoder: any Decoder, _ keys: Key.Type) throws {
        let known = Key.allCases.map(\.stringValue)
        let found = try decoder.container(keyedBy: AnyKey.self).allKeys
        let unknown = found.filter { !known.contains($0.stringValue) }.min { $0.stringValue < $1.stringValue }
        if let unknown {
            let path = (decoder.codingPath + [unknown]).map(\.stringValue).joined(separator: ".")
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath + [unknown],
                    debugDescription: "unknown key \(path); known keys here: \(known.joined(separator: ", "))"))
        }
        container = try decoder.container(keyedBy: keys)
    }

    func read<Value: Decodable>(_ key: Key, into value: inout Value) throws {
        if let found = try container.decodeIfPresent(Value.self, forKey: key) { value = found }
    }

    func read<Value: Decodable>(_ key: Key, into value: inout Value?) throws {
        if let found = try container.decodeIfPresent(Value.self, forKey: key) { value = found }
    }

    func read(_ key: Key, into value: inout Duration) throws {
        guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return }
        guard let duration = DurationText.duration(text) else {
            throw corrupted(key, "expected a duration such as 500ms, 30s, 5m or 1h")
        }
        value = duration
    }

    func corrupted(_ key: Key, _ text: String) -> DecodingError {
        let path = (container.codingPath + [key]).map(\.stringValue).joined(separator: ".")
        return .dataCorrupted(
            DecodingError.Context(codingPath: container.codingPath + [key], debugDescription: "\(path): \(text)"))
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// Durations as text: `1.5s`, `500ms`, `5m`, `1h`.
enum DurationText {
    private static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000
    /// In the order in which suffixes are tried: `ms` ends with `s` too.
    private static let units: [(suffix: String, attoseconds: Int128)] = [
        ("ms", attosecondsPerSecond / 1000), ("s", attosecondsPerSecond), ("m", 60 * attosecondsPerSecond),
        ("h", 3600 * attosecondsPerSecond),
    ]

    static func duration(_ text: String) -> Duration? {
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let parts = text.dropLast(unit.suffix.count).split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let whole = Int64(parts[0])
        else { return nil }
        var total = Int128(whole) * unit.attoseconds
        var place = unit.attoseconds
        for digit in parts.count == 2 ? Array(parts[1].utf8) : [] {
            guard place % 10 == 0 else { return nil }
            place /= 10
            total += Int128(digit - 0x30) * place
        }
        guard let seconds = Int64(exactly: total / attosecondsPerSecond) else { return nil }
        return Duration(secondsComponent: seconds, attosecondsComponent: Int64(total % attosecondsPerSecond))
    }

    /// The duration in seconds, with all its digits. A negative duration becomes zero, which it means everywhere.
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = max(duration, .zero).components
        if attoseconds == 0 { return "\(seconds)s" }
        var digits = String(String(attoseconds + Int64(attosecondsPerSecond)).dropFirst())
        while digits.last == "0" { digits.removeLast() }
        return "\(seconds).\(digits)s"
    }
}
