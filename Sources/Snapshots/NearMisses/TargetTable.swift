import HTTPMessage
import HTTPSerialization

/// The methods and URIs of all recordings in canonical order, in memory. They are read at the first miss.
struct TargetTable {
    private let octets: [UInt8]
    /// The offset of each line, and the end of the last line.
    private let starts: [Int]

    /// - Throws: `damaged` if the lines do not match the digest in the manifest.
    init(_ snapshot: Snapshot) throws(SnapshotError) {
        let totals = snapshot.manifest.totals
        octets = try snapshot.tables.pages(.targets, length: totals.targetsLength)
        guard Hashing.sha256(octets) == totals.targets else { throw .damaged("the target table does not match its digest") }
        var starts = [0]
        starts.reserveCapacity(totals.recordings + 1)
        for place in octets.indices where octets[place] == ASCII.lf { starts.append(place + 1) }
        guard starts.count == totals.recordings + 1 else {
            throw .damaged("the target table has a wrong number of lines")
        }
        self.starts = starts
    }

    /// The places (in canonical order) of the recordings whose method and URI satisfy a condition.
    func places(where isMeant: (_ method: [UInt8], _ uri: [UInt8]) -> Bool) -> [Int] {
        (0..<starts.count - 1).filter { place in
            let line = octets[starts[place]..<starts[place + 1] - 1]
            let method = line.prefix { $0 != ASCII.space }
            return isMeant(Array(method), Array(line[min(method.endIndex + 1, line.endIndex)...]))
        }
    }

    /// The places (in canonical order) of the recordings whose method and URI are most similar to a target, the most similar first. If
    /// adjacent lines are equal, only one of them is returned.
    func nearest(to method: [UInt8], _ uri: [UInt8], count: Int) -> [Int] {
        let wanted = method + [ASCII.space] + uri
        var best: [(distance: Int, place: Int)] = []
        wanted.withUnsafeBufferPointer { wanted in
            octets.withUnsafeBufferPointer { octets in
                for place in 0..<starts.count - 1 {
                    let line = UnsafeBufferPointer(rebasing: octets[starts[place]..<starts[place + 1] - 1])
                    let bound = best.count == count ? best[count - 1].distance : Int.max
                    let distance = Self.distance(line, wanted, below: bound)
                    if distance >= bound || isRepeated(place, octets) { continue }
                    let rank = best.firstIndex { $0.distance > distance } ?? best.count
                    best.insert((distance, place), at: rank)
                    if best.count > count { best.removeLast() }
                }
            }
        }
        return best.map(\.place)
    }

    /// The length of the part in which two lines differ: the bytes outside their common prefix and their common suffix.
    private static func distance(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>, below bound: Int) -> Int
    {
        let shorter = min(one.count, other.count)
        if abs(one.count - other.count) >= bound { return bound }
        var front = 0
        while front < shorter, one[front] == other[front] { front += 1 }
        var back = 0
        while back < shorter - front, one[one.count - 1 - back] == other[other.count - 1 - back] { back += 1 }
        return one.count + other.count - 2 * (front + back)
    }

    private func isRepeated(_ place: Int, _ octets: UnsafeBufferPointer<UInt8>) -> Bool {
        guard place > 0 else { return false }
        let (start, before) = (starts[place], starts[place - 1])
        guard start - before == starts[place + 1] - start else { return false }
        return octets[before..<start].elementsEqual(octets[start..<starts[place + 1]])
    }
}
