import CLarderLinux
import HTTPCaching

/// The addresses that a hit reads to deliver a key's newest response.
///
/// Each object refers to the next one (variants, list, response, its head and body). If many responses are requested in turn, none of
/// them is in the processor's caches, and following the references means waiting for memory five times. So the table stores their
/// addresses, and all are prefetched while the table entry is being compared. The addresses are only a hint: nothing is read through
/// them.
struct PrefetchHint: Sendable {
    /// The part of a body to prefetch, in bytes; the processor prefetches the rest by itself.
    private static let bodyLimit = 2048
    /// The size in bytes of an array's header, before its elements.
    private static let arrayHeaderLength = 32
    /// The part of a large object to prefetch, in bytes.
    private static let objectLength = 320
    /// A smaller object, prefetched as a whole.
    private static let variantsLength = 2 * larder_cache_line
    /// A list's header and its newest elements.
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

    /// A hint for an empty slot.
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

    /// Prefetches everything.
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
