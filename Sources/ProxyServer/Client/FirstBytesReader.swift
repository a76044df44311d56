/// Reads a client's first bytes until they decide how the connection continues. Its connection keeps it alive meanwhile.
protocol FirstBytesReader: AnyObject {
    /// Whether to read from the client now.
    var takesInput: Bool { get }
    /// - Parameter octets: not empty.
    func take(_ octets: UnsafeRawBufferPointer)
    /// The client has closed its sending side.
    /// - Returns: whether the connection continues anyway.
    func inputEnded() -> Bool
    /// The client has left, or the connection ends for another reason.
    func connectionEnded()
    /// - Parameter isLast: whether the connection closes after its output has been written, so that nothing more may begin on it.
    func deadlinePassed(isLast: Bool)
}
