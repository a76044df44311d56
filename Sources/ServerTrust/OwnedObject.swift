internal import COpenSSL

/// A reference to an OpenSSL object, released with this object.
///
/// Any thread may read it. The object is not changed after it was created, and OpenSSL protects with its own locks and atomic
/// counts what it caches inside (`X509`, `X509_CRL`) or looks up in it (`X509_STORE`).
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
