import HTTPMessage

/// The content of a response as it arrives, in pieces of any size. Only one task may read it, and only once.
///
/// An error is thrown after all bytes that were received before it. Cancelling the reading task ends the transfer, and so does
/// releasing the body.
public struct ResponseBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]
    public typealias Failure = SessionError

    let lease: BodyLease

    /// Returns the pieces in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let lease: BodyLease

        public mutating func next() async throws(SessionError) -> [UInt8]? { try await lease.next() }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lease: lease) }

    /// The fields after a chunked body, once it was read to its end.
    public func trailers() async -> SessionFields { SessionFields(await lease.link.end().trailers) }

    /// All remaining content.
    /// - Throws: the errors of reading, and `body_too_large` if the content is longer than `limit`.
    public func collect(atMost limit: Int) async throws(SessionError) -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try await lease.next() {
            if whole.isEmpty { whole = piece } else { whole += piece }
            if whole.count > limit { throw SessionError(.bodyTooLarge, "the content has more than \(limit) bytes") }
        }
        return whole
    }
}

/// Keeps the exchange alive while the body can be read; the exchange ends when the last reference is released.
final class BodyLease: Sendable {
    let link: ResponseChannel
    private let response: SessionError.Response
    private let decoding: DecodedStream?
    /// Keeps alive the threads that carry the body.
    private let session: HTTPSession

    init(_ link: ResponseChannel, _ response: SessionError.Response, _ decoding: DecodedStream?, _ session: HTTPSession) {
        self.link = link
        self.response = response
        self.decoding = decoding
        self.session = session
    }

    deinit { link.cancel() }

    func next() async throws(SessionError) -> [UInt8]? {
        guard let decoding else { return try await nextReceived() }
        do throws(SessionError) {
            while let octets = try await nextReceived() {
                let content = try decoding.decode(octets)
                if !content.isEmpty { return content }
            }
            try decoding.finish()
            return nil
        } catch {
            link.cancel()
            throw error.about(response)
        }
    }

    private func nextReceived() async throws(SessionError) -> [UInt8]? {
        let link = link
        let result = await withTaskCancellationHandler {
            await link.next()
        } onCancel: {
            link.cancel()
        }
        switch result {
        case .success(let octets): return octets
        case .failure(let failure): throw SessionError(link: failure).about(response)
        }
    }
}

extension SessionError {
    init(link failure: ResponseChannel.Failure) {
        switch failure {
        case .transport(let error): self.init(transport: error)
        case .cancelled: self.init(.cancelled)
        case .bodyTooLarge: self.init(.bodyTooLarge)
        case .source(let error):
            if let error = error as? SessionError {
                self = error
            } else {
                self.init(.bodySourceFailed, "\(type(of: error))")
                underlying = error
            }
        }
    }
}
