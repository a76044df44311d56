internal import COpenSSL

/// A reference to an object of OpenSSL's, given back when nobody uses it any more.
///
/// Any thread may read it: what stands here is never changed after it was made, and OpenSSL guards with its own locks and
/// atomic counts what it caches inside (`X509`, `X509_CRL`) or looks up in it (`X509_STORE`).
package final class OwnedObject: @unchecked Sendable {
    package let pointer: OpaquePointer
    private let release: @Sendable (OpaquePointer) -> Void

    /// - Parameter pointer: a reference that belongs to this object from here on.
    package init(_ pointer: OpaquePointer, release: @escaping @Sendable (OpaquePointer) -> Void) {
        self.pointer = pointer
        self.release = release
    }

    deinit { release(pointer) }
}
