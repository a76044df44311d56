import CLinux
import HTTPCaching

/// Where in memory stands what a hit reads of a key's newest response.
///
/// One leads to the next (variants, list, response, its head and body), and where many responses are asked for in turn the processor's
/// caches hold none of them: found one after the other, they are waited for five times. So their addresses stand in the table's
/// place, and all are on their way while the place is still being looked at. A hint: nothing is read through them.
struct PrefetchHint: Sendable {
    /// As much of a body as comes at once; what follows, the processor sees coming by itself.
    private static let bodyLimit = 2048
    /// What stands before an array's elements.
    private static let arrayHeaderLength = 32
    /// That and the first lines of an object that is larger.
    private static let objectLength = 320
    /// The whole of a smaller object.
    private static let variantsLength = 2 * larder_cache_line
    /// A list's header, and its newest elements.
    private static let listLength = larder_cache_line

    private let variants: UInt
    private let key: UInt
    private let list: UInt
    private let response: UInt
    private let head: UInt
    private let body: UInt
    private let keyCount: UInt16
    private let headCount: UInt16
    private let bodyCount: UInt16

    /// Of nothing.
    init() {
        (variants, key, list, response, head, body) = (0, 0, 0, 0, 0, 0)
        (keyCount, headCount, bodyCount) = (0, 0, 0)
    }

    init(of variants: StoredVariants) {
        self.variants = Self.address(of: variants)
        (key, keyCount) = Self.place(of: variants.key)
        (list, _) = Self.place(of: variants.responses)
        guard let newest = variants.responses.first else {
            (response, head, body, headCount, bodyCount) = (0, 0, 0, 0, 0)
            return
        }
        response = Self.address(of: newest)
        (head, headCount) = Self.place(of: newest.preparedHead)
        switch newest.body {
        case .bytes(let bytes): (body, bodyCount) = Self.place(of: bytes)
        case .onDisk: (body, bodyCount) = (0, 0)
        }
    }

    /// Has the processor fetch all of it.
    @inline(__always)
    func fetch() {
        larder_prefetch(variants, Self.variantsLength)
        larder_prefetch(key, Int(keyCount))
        larder_prefetch(list, Self.listLength)
        larder_prefetch(response, Self.objectLength)
        larder_prefetch(head, Int(headCount))
        larder_prefetch(body, Int(bodyCount))
    }

    private static func address(of object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(object)) }

    private static func place<Element>(of array: [Element]) -> (address: UInt, count: UInt16) {
        array.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return (0, 0) }
            return (
                UInt(bitPattern: start) - UInt(arrayHeaderLength), UInt16(min(arrayHeaderLength + bytes.count, bodyLimit))
            )
        }
    }
}
