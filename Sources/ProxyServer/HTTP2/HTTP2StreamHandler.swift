import EventLoop
import HTTP2Wire
import HTTPMessage

/// One stream of a client's HTTP/2 connection, from its request's head to its end.
protocol HTTP2StreamHandler: AnyObject {
    var id: HTTP2StreamID { get }
    /// The time since which the stream waits for its client; `nil` if it does not wait.
    var waitsSince: MonotonicTime? { get }
    /// Whether the rest of the request must be refused after the whole response was sent.
    var refusesRest: Bool { get }
    func receive(_ data: UnsafeRawBufferPointer)
    /// Called before `receiveEnd`.
    func receive(trailers: consuming Fields)
    /// The client sends no more on this stream.
    func receiveEnd()
    /// The session accepts more content.
    func windowOpened()
    /// Moves waiting output into the session.
    func flush()
    /// The client has let too much time pass since `waitsSince`.
    func deadlinePassed()
    /// The stream was reset, or its connection is closed.
    func closed()
}

extension HTTP2StreamHandler {
    var refusesRest: Bool { false }
}
