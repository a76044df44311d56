import EventLoop
import HTTP2Wire
import HTTPMessage

/// One stream of a client's HTTP/2 connection, from its request's head to its end.
protocol HTTP2StreamHandler: AnyObject {
    var id: HTTP2StreamID { get }
    /// Since when the stream waits for its client; `nil` if it does not.
    var waitsSince: MonotonicTime? { get }
    func receive(_ data: UnsafeRawBufferPointer)
    /// `receiveEnd` follows.
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
