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
    /// Receives the trailers of the request. Called before `receiveEnd`.
    func receive(trailers: consuming Fields)
    /// Called when the client sends no more on this stream.
    func receiveEnd()
    /// Called when the session accepts more content.
    func windowOpened()
    /// Moves waiting output into the session.
    func flush()
    /// Called when the client has let too much time pass since `waitsSince`.
    func deadlinePassed()
    /// Called when the stream was reset, or when its connection is closed.
    func closed()
}

extension HTTP2StreamHandler {
    var refusesRest: Bool { false }
}
