/// Reads what a client sends first, until it is decided how the connection goes on. Its connection keeps it meanwhile.
protocol FirstBytesReader: AnyObject {
    /// Whether what the client sends is to be read now.
    var takesInput: Bool { get }
    /// - Parameter octets: not empty.
    func take(_ octets: UnsafeRawBufferPointer)
    /// The client sends no more.
    /// - Returns: whether something comes of it all the same.
    func inputEnded() -> Bool
    /// The client has left, or the connection ends for another reason.
    func connectionEnded()
    /// - Parameter isLast: no more is begun on this connection.
    func deadlinePassed(isLast: Bool)
}
