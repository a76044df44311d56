/// Reads a client's first bytes until they decide how the connection continues. The connection keeps the reader alive during that time.
protocol FirstBytesReader: AnyObject {
    /// Whether to read from the client now.
    var takesInput: Bool { get }
    /// - Parameter octets: the next bytes from the client; not empty.
    func take(_ octets: UnsafeRawBufferPointer)
    /// Called when the client has closed its sending side.
    /// - Returns: whether the connection continues anyway.
    func inputEnded() -> Bool
    /// Called when the client has left, or the connection ends for another reason.
    func connectionEnded()
    /// - Parameter isLast: whether the connection closes after its output has been written, so that nothing more may begin on it.
    func deadlinePassed(isLast: Bool)
}
