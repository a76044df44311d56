/// Reads the binary form: `bplist00`, objects, a table of their offsets, and a trailer of 32 bytes.
///
/// Objects refer to other objects by number, so a short file can expand to a long value. Strings and data are read once and shared,
/// and each reference counts towards the limit of values.
struct BinaryPropertyListReader {
    private static let trailerLength = 32
    private static let headerLength = 8

    private let octets: [UInt8]
    private let limits: PropertyListLimits
    private let places: [Int]
    private let referenceLength: Int
    private let objectsEnd: Int
    private var valueCount = 0
    /// Strings and data already read, by object number.
    private var shared: [Int: PropertyListValue] = [:]
    /// For each object: whether the object that is being read is inside it.
    private var isOpen: [Bool]

    static func read(_ octets: [UInt8], limits: PropertyListLimits) throws(PropertyListFault) -> PropertyListValue {
        guard octets.count >= headerLength + trailerLength, octets.starts(with: Array("bplist00".utf8)) else {
            throw PropertyListFault(.malformed, "the file does not start with bplist00", at: 0)
        }
        let trailer = octets.count - trailerLength
        let (placeLength, referenceLength) = (Int(octets[trailer + 6]), Int(octets[trailer + 7]))
        let counts = [8, 16, 24].map { Int(exactly: number(in: octets, trailer + $0, 8)) }
        guard let objectCount = counts[0], let top = counts[1], let table = counts[2] else {
            throw PropertyListFault(.malformed, "the trailer contains invalid numbers", at: trailer)
        }
        let isPossible =
            (1...8).contains(placeLength) && (1...8).contains(referenceLength) && top < objectCount && table > headerLength
            && table <= trailer && objectCount <= (trailer - table) / placeLength
        guard isPossible else { throw PropertyListFault(.malformed, "the trailer contains invalid numbers", at: trailer) }
        if objectCount > limits.valueCount {
            throw PropertyListFault(.tooLarge, "the property list has more than \(limits.valueCount) values")
        }
        var places: [Int] = []
        for object in 0..<objectCount {
            let place = Int(exactly: number(in: octets, table + object * placeLength, placeLength))
            guard let place, place >= headerLength, place < table else {
                throw PropertyListFault(.malformed, "an object is outside the file", at: table + object * placeLength)
            }
            places.append(place)
        }
        var reader = BinaryPropertyListReader(
            octets: octets, limits: limits, places: places, referenceLength: referenceLength, objectsEnd: table)
        return try reader.value(of: top, depth: 0)
    }

    private init(
        octets: [UInt8], limits: PropertyListLimits, places: [Int], referenceLength: Int, objectsEnd: Int
    ) {
        self.octets = octets
        self.limits = limits
        self.places = places
        self.referenceLength = referenceLength
        self.objectsEnd = objectsEnd
        isOpen = Array(repeating: false, count: places.count)
    }

    /// Reads a big-endian, unsigned integer of at most 8 bytes.
    private static func number(in octets: [UInt8], _ place: Int, _ length: Int) -> UInt64 {
        octets[place..<place + length].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func value(of object: Int, depth: Int) throws(PropertyListFault) -> PropertyListValue {
        valueCount += 1
        if valueCount > limits.valueCount {
            throw PropertyListFault(.tooLarge, "the property list has more than \(limits.valueCount) values")
        }
        if let value = shared[object] { return value }
        let place = places[object]
        let (kind, low) = (octets[place] >> 4, Int(octets[place] & 0xF))
        switch kind {
        case 0x0 where low == 8 || low == 9: return .bool(low == 9)
        case 0x1 where low <= 4: return .integer(try integer(at: place))
        case 0x2 where low == 2:
            return .real(Double(Float(bitPattern: UInt32(try unsigned(at: place + 1, 4)))))
        case 0x2 where low == 3: return .real(Double(bitPattern: try unsigned(at: place + 1, 8)))
        case 0x3 where low == 3:
            return .date(PropertyListDate(secondsSince2001: Double(bitPattern: try unsigned(at: place + 1, 8))))
        case 0x4, 0x5, 0x6:
            let value = try run(kind, at: place)
            shared[object] = value
            return value
        case 0x8 where low < 8: return .uid(try unsigned(at: place + 1, low + 1))
        case 0xA, 0xD:
            if depth == limits.depth {
                throw PropertyListFault(.tooDeep, "values are nested more than \(limits.depth) levels deep", at: place)
            }
            if isOpen[object] { throw PropertyListFault(.malformed, "an object contains itself", at: place) }
            isOpen[object] = true
            defer { isOpen[object] = false }
            return kind == 0xA ? try array(at: place, depth) : try dictionary(at: place, depth)
        default: throw PropertyListFault(.malformed, "an object has the unknown kind \(octets[place])", at: place)
        }
    }

    private func available(_ place: Int, _ length: Int) throws(PropertyListFault) {
        guard length <= objectsEnd - place else { throw PropertyListFault(.malformed, "an object is truncated", at: place) }
    }

    private func unsigned(at place: Int, _ length: Int) throws(PropertyListFault) -> UInt64 {
        try available(place, length)
        return Self.number(in: octets, place, length)
    }

    /// Integers of up to 4 bytes are unsigned; integers of 8 and 16 bytes are signed.
    private func integer(at place: Int) throws(PropertyListFault) -> Int128 {
        let length = 1 << Int(octets[place] & 0xF)
        if length < 8 { return Int128(try unsigned(at: place + 1, length)) }
        if length == 8 { return Int128(Int64(bitPattern: try unsigned(at: place + 1, 8))) }
        let high = Int128(Int64(bitPattern: try unsigned(at: place + 1, 8)))
        return high << 64 | Int128(try unsigned(at: place + 9, 8))
    }

    /// How many elements, bytes or UTF-16 code units an object has, and where they begin.
    private func extent(at place: Int) throws(PropertyListFault) -> (count: Int, start: Int) {
        let low = Int(octets[place] & 0xF)
        if low < 0xF { return (low, place + 1) }
        try available(place + 1, 1)
        guard octets[place + 1] >> 4 == 1, octets[place + 1] & 0xF <= 3 else {
            throw PropertyListFault(.malformed, "a count is not an integer", at: place + 1)
        }
        guard let count = Int(exactly: try integer(at: place + 1)), count >= 0 else {
            throw PropertyListFault(.malformed, "a count is invalid", at: place + 1)
        }
        return (count, place + 2 + 1 << Int(octets[place + 1] & 0xF))
    }

    private func run(_ kind: UInt8, at place: Int) throws(PropertyListFault) -> PropertyListValue {
        let (count, start) = try extent(at: place)
        let (length, overflow) = count.multipliedReportingOverflow(by: kind == 0x6 ? 2 : 1)
        if overflow { throw PropertyListFault(.malformed, "a count is invalid", at: place) }
        try available(start, length)
        let run = octets[start..<start + length]
        switch kind {
        case 0x4: return .data(Array(run))
        case 0x5:
            guard run.allSatisfy({ $0 < 0x80 }) else { throw PropertyListFault(.malformed, "no ASCII", at: start) }
            return .string(String(decoding: run, as: UTF8.self))
        default:
            let units = (0..<count).map { UInt16(run[start + $0 * 2]) << 8 | UInt16(run[start + $0 * 2 + 1]) }
            guard let text = String(validating: units, as: UTF16.self) else {
                throw PropertyListFault(.malformed, "no UTF-16", at: start)
            }
            return .string(text)
        }
    }

    private func references(_ count: Int, from start: Int) throws(PropertyListFault) -> [Int] {
        let (length, overflow) = count.multipliedReportingOverflow(by: referenceLength)
        if overflow { throw PropertyListFault(.malformed, "a count is invalid", at: start) }
        try available(start, length)
        var references: [Int] = []
        references.reserveCapacity(count)
        for place in 0..<count {
            let number = Self.number(in: octets, start + place * referenceLength, referenceLength)
            guard number < UInt64(places.count) else {
                throw PropertyListFault(.malformed, "a referenced object is missing", at: start + place * referenceLength)
            }
            references.append(Int(number))
        }
        return references
    }

    private mutating func array(at place: Int, _ depth: Int) throws(PropertyListFault) -> PropertyListValue {
        let (count, start) = try extent(at: place)
        var values: [PropertyListValue] = []
        for reference in try references(count, from: start) { values.append(try value(of: reference, depth: depth + 1)) }
        return .array(values)
    }

    private mutating func dictionary(at place: Int, _ depth: Int) throws(PropertyListFault) -> PropertyListValue {
        let (count, start) = try extent(at: place)
        let keys = try references(count, from: start)
        let values = try references(count, from: start + count * referenceLength)
        var members: [(String, PropertyListValue)] = []
        for (key, reference) in zip(keys, values) {
            guard case .string(let name) = try value(of: key, depth: depth + 1) else {
                throw PropertyListFault(.malformed, "a key is not a string", at: places[key])
            }
            members.append((name, try value(of: reference, depth: depth + 1)))
        }
        return .dictionary(PropertyListDictionary(members))
    }
}
