internal import CLarderOpenSSL

/// Wraps OpenSSL's DER readers and writers.
package enum DER {
    /// - Parameter read: a `d2i_…` function; it advances the pointer past the bytes it has read.
    /// - Returns: `nil` if `read` cannot read the bytes, or if more bytes follow.
    static func read(
        _ der: [UInt8], by read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?,
        release: @escaping @Sendable (OpaquePointer) -> Void
    ) -> OwnedObject? {
        ErrorQueue.unchanged {
            der.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { return nil }
                var next: UnsafePointer<UInt8>? = start
                guard let pointer = read(&next, bytes.count) else { return nil }
                // `OwnedObject` owns the result, so that it is released on every path.
                let object = OwnedObject(pointer, release: release)
                return next == start + bytes.count ? object : nil
            }
        }
    }

    /// - Parameter write: an `i2d_…` function, which allocates its own memory.
    /// - Returns: an empty array if `write` fails.
    package static func written(by write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = write(&bytes)
        guard count > 0, let bytes else { return [] }
        defer { copenssl_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
