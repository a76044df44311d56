internal import CLarderOpenSSL

/// A reference to an OpenSSL object, released with this object.
///
/// Any thread may read it. The object is not changed after it was created. OpenSSL caches data in some objects (`X509`, `X509_CRL`) and
/// searches others (`X509_STORE`), and protects both with its own locks and atomic counts.
package final class OwnedObject: @unchecked Sendable {
    package let pointer: OpaquePointer
    private let release: @Sendable (OpaquePointer) -> Void

    /// - Parameter pointer: a reference that this object now owns.
    package init(_ pointer: OpaquePointer, release: @escaping @Sendable (OpaquePointer) -> Void) {
        self.pointer = pointer
        self.release = release
    }

    deinit { release(pointer) }
}
