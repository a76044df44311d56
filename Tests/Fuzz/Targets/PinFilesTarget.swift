import ServerTrust

extension FuzzTarget {
    /// Bytes are a text with one pin, or a file, by the first of them. A pin that is read, written and read again is the same.
    package static let pinFiles = FuzzTarget("PinFiles") { octets in
        let rest = Array(octets.dropFirst())
        let pins: [Pin]?
        if octets.first.map({ $0 & 1 == 0 }) ?? true {
            pins = (try? Pin(String(decoding: rest, as: UTF8.self))).map { [$0] }
        } else {
            pins = try? Pin.reading(file: rest)
        }
        guard let pins else { return nil }
        if pins.isEmpty { return "a file without a pin is none" }
        for pin in pins where (try? Pin(pin.description))?.publicKeyDigest != pin.publicKeyDigest {
            return "the pin \(pin) is read as another"
        }
        return nil
    }
}
