/// Writes the binary form. Equal strings, numbers and other simple values are written only once. The order of the objects is that
/// of Python's plistlib.
struct BinaryPropertyListWriter {
    private var objects: [PropertyListValue] = []
    private var numbers: [PropertyListValue: Int] = [:]
    /// The object numbers of the elements, keys and values of each array and dictionary.
    private var contents: [Int: [Int]] = [:]
    private var octets: [UInt8] = Array("bplist00".utf8)

    static func write(_ value: PropertyListValue) throws(PropertyListFault) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        _ = writer.number(of: value)
        return try writer.written()
    }

    private mutating func number(of value: PropertyListValue) -> Int {
        let isShared = Self.isShared(value)
        if isShared, let known = numbers[value] { return known }
        let number = objects.count
        objects.append(value)
        if isShared { numbers[value] = number }
        switch value {
        case .array(let elements): contents[number] = elements.map { self.number(of: $0) }
        case .dictionary(let dictionary):
            let keys = dictionary.members.map { self.number(of: .string($0.key)) }
            contents[number] = keys + dictionary.members.map { self.number(of: $0.value) }
        default: break
        }
        return number
    }

    /// Minus zero equals zero but must be written as minus zero, so it is not shared.
    private static func isShared(_ value: PropertyListValue) -> Bool {
        switch value {
        case .array, .dictionary, .uid: false
        case .real(let number): number != 0
        case .date(let date): date.secondsSince2001 != 0
        default: true
        }
    }

    private mutating func written() throws(PropertyListFault) -> [UInt8] {
        let referenceLength = Self.length(of: objects.count)
        var places: [Int] = []
        for number in objects.indices {
            places.append(octets.count)
            try write(number, referenceLength)
        }
        let table = octets.count
        let placeLength = Self.length(of: table)
        for place in places { append(UInt64(place), placeLength) }
        octets += [0, 0, 0, 0, 0, 0, UInt8(placeLength), UInt8(referenceLength)]
        for number in [objects.count, 0, table] { append(UInt64(number), 8) }
        return octets
    }

    private mutating func write(_ number: Int, _ referenceLength: Int) throws(PropertyListFault) {
        switch objects[number] {
        case .bool(let bool): octets.append(bool ? 0x09 : 0x08)
        case .integer(let integer): append(integer: try XMLPropertyList.checked(integer))
        case .real(let real):
            octets.append(0x23)
            append(real.bitPattern, 8)
        case .date(let date):
            octets.append(0x33)
            append(date.secondsSince2001.bitPattern, 8)
        case .data(let data):
            append(kind: 0x40, count: data.count)
            octets += data
        case .string(let string):
            if string.utf8.allSatisfy({ $0 < 0x80 }) {
                append(kind: 0x50, count: string.utf8.count)
                octets += string.utf8
            } else {
                append(kind: 0x60, count: string.utf16.count)
                for unit in string.utf16 { append(UInt64(unit), 2) }
            }
        case .uid(let uid):
            let length = Self.length(of: Int(clamping: uid))
            octets.append(0x80 | UInt8(length - 1))
            append(uid, length)
        case .array(let elements):
            append(kind: 0xA0, count: elements.count)
            for reference in contents[number] ?? [] { append(UInt64(reference), referenceLength) }
        case .dictionary(let dictionary):
            append(kind: 0xD0, count: dictionary.members.count)
            for reference in contents[number] ?? [] { append(UInt64(reference), referenceLength) }
        }
    }

    /// How many bytes a number needs: 1, 2, 4 or 8.
    private static func length(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private mutating func append(_ number: UInt64, _ length: Int) {
        for place in (0..<length).reversed() { octets.append(UInt8(truncatingIfNeeded: number >> UInt64(place * 8))) }
    }

    private mutating func append(integer: Int128) {
        guard let unsigned = UInt64(exactly: integer) else {
            octets.append(0x13)
            append(UInt64(truncatingIfNeeded: integer), 8)
            return
        }
        if unsigned > UInt64(Int64.max) {
            // Readers treat an integer of 8 bytes as signed, so this number is written in 16 bytes.
            octets.append(0x14)
            append(0, 8)
            append(unsigned, 8)
            return
        }
        let length = Self.length(of: Int(unsigned))
        octets.append(0x10 | UInt8(length.trailingZeroBitCount))
        append(unsigned, length)
    }

    private mutating func append(kind: UInt8, count: Int) {
        octets.append(kind | UInt8(min(count, 0xF)))
        if count >= 0xF { append(integer: Int128(count)) }
    }
}
