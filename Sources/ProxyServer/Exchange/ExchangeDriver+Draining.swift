import HTTPMessage
import HTTPWire
import ProxyCore

/// The rest of a request's body that nobody wants any more, after the answer: read and thrown away up to a limit, so that the
/// connection can be used again (RFC 9112 §9.3). Past the limit the connection ends (T13).
extension ExchangeDriver {
    /// Called before a head is written: where the request's body has not been read by then and will not be, the connection ends
    /// with the answer, and the head says so (RFC 9112 §9.6). The same where the server is about to stop.
    func noteUnreadBody() {
        let endsInBody = !upload.isComplete && !mayDrain
        if endsInBody || connection?.closesWhenDrained == true { tell(.connectionEnds) }
    }

    /// A client that waits for 100 may never send its body: what comes next could be the body or a request.
    private var mayDrain: Bool {
        upload.mayEnd(within: exchange.context.limits.drainedBodyLength) && !exchange.request.fields.contains(.expect)
    }

    /// The exchange is over but for the client's part of it.
    func beginDraining() {
        isDraining = true
        drainEnd = upload.receivedCount + exchange.context.limits.drainedBodyLength
        drainRequestBody()
    }

    func drainRequestBody() {
        guard let connection else { return }
        var isSound = true
        connection.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while upload.receivedCount <= drainEnd {
                    switch try upload.next(in: input, offset: &offset) {
                    case .content: continue
                    case .needsMore, .ended: return offset
                    }
                }
            } catch {
                // What follows cannot be told apart from a body: the connection ends below.
            }
            isSound = false
            return input.byteCount
        }
        if !isSound || upload.isComplete { endDraining(keepsConnection: isSound) }
    }

    func endDraining(keepsConnection: Bool) {
        isDraining = false
        giveConnectionBack(keepsConnection: keepsConnection)
        giveBackIfDone()
    }
}
