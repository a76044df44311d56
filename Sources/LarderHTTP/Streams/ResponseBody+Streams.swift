public import HTTPSerialization

extension ResponseBody {
    /// The content as lines, without their ends (LF or CR LF). Bytes that are not UTF-8 are replaced.
    public func lines(limits: StreamLimits = StreamLimits()) -> BodyLines { BodyLines(body: self, limits: limits) }

    /// The content as elements, each decoded by a serializer.
    /// - Parameters:
    ///   - serializer: decodes one element.
    ///   - form: whether each line is an element (JSON Lines), or the content is one JSON array.
    ///   - limits: the greatest length of a line or an element.
    public func elements<Serializer: ResponseSerializer>(
        as serializer: Serializer, in form: ElementForm = .lines, limits: StreamLimits = StreamLimits()
    ) -> BodyElements<Serializer> {
        BodyElements(body: self, serializer: serializer, form: form, limits: limits)
    }

    /// The content as elements of a `Decodable` type.
    public func elements<Element: Decodable & Sendable>(
        of type: Element.Type, in form: ElementForm = .lines, limits: StreamLimits = StreamLimits()
    ) -> BodyElements<DecodableSerializer<Element>> {
        elements(as: DecodableSerializer(type), in: form, limits: limits)
    }

    /// The content as events of an event stream (`text/event-stream`), from this response alone. `HTTPSession.events` connects again.
    public func events(limits: StreamLimits = StreamLimits()) -> BodyEvents { BodyEvents(body: self, limits: limits) }
}

/// How elements are arranged in a body.
public enum ElementForm: Sendable {
    /// One element in each line. Empty lines are skipped.
    case lines
    /// One JSON array.
    case array
}

/// The lines of a body. An error is thrown after all lines before it.
public struct BodyLines: AsyncSequence, Sendable {
    public typealias Element = String
    public typealias Failure = SessionError

    let body: ResponseBody
    let limits: StreamLimits

    /// Returns the lines in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: ResponseBody.AsyncIterator
        fileprivate var splitter: LineSplitter
        private var input: [UInt8] = []
        private var offset = 0

        fileprivate init(_ body: ResponseBody, _ limits: StreamLimits) {
            pieces = body.makeAsyncIterator()
            splitter = LineSplitter(limit: limits.lineLength)
        }

        public mutating func next() async throws(SessionError) -> String? {
            try await nextBytes().map { String(decoding: $0, as: UTF8.self) }
        }

        fileprivate mutating func nextBytes() async throws(SessionError) -> [UInt8]? {
            while true {
                let bytes = input
                do throws(StreamFault) {
                    if let line = try splitter.next(bytes.span, from: &offset) { return line }
                } catch { throw SessionError(error) }
                guard let piece = try await pieces.next() else {
                    do throws(StreamFault) { return try splitter.finish() } catch { throw SessionError(error) }
                }
                input = piece
                offset = 0
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body, limits) }
}

/// The elements of a body. An element that cannot be decoded is thrown as an error; the next call returns the next element.
public struct BodyElements<Serializer: ResponseSerializer>: AsyncSequence, Sendable {
    public typealias Element = Serializer.Output
    public typealias Failure = SessionError

    let body: ResponseBody
    let serializer: Serializer
    let form: ElementForm
    let limits: StreamLimits

    /// Returns the elements in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let serializer: Serializer
        private let form: ElementForm
        private var lines: BodyLines.AsyncIterator
        private var array: JSONArraySplitter
        private var input: [UInt8] = []
        private var offset = 0

        fileprivate init(_ elements: BodyElements) {
            serializer = elements.serializer
            form = elements.form
            lines = BodyLines.AsyncIterator(elements.body, elements.limits)
            array = JSONArraySplitter(limit: elements.limits.elementLength)
        }

        public mutating func next() async throws(SessionError) -> Serializer.Output? {
            guard let text = try await nextText() else { return nil }
            do throws(ResponseFault) { return try serializer.decode(text, of: ReceivedHead(status: 200)) } catch {
                throw SessionError(SessionError.Code(rawValue: error.code.rawValue) ?? .responseSerialization, error.detail)
            }
        }

        private mutating func nextText() async throws(SessionError) -> [UInt8]? {
            if case .array = form { return try await nextOfArray() }
            while let line = try await lines.nextBytes() {
                if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return line }
            }
            return nil
        }

        private mutating func nextOfArray() async throws(SessionError) -> [UInt8]? {
            while true {
                let bytes = input
                do throws(StreamFault) {
                    if let text = try array.next(bytes.span, from: &offset) { return text }
                } catch { throw SessionError(error) }
                guard let piece = try await lines.pieces.next() else {
                    do throws(StreamFault) { try array.finish() } catch { throw SessionError(error) }
                    return nil
                }
                input = piece
                offset = 0
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// The events of one response.
public struct BodyEvents: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent
    public typealias Failure = SessionError

    let body: ResponseBody
    let limits: StreamLimits

    /// Returns the events in order.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pieces: ResponseBody.AsyncIterator
        private(set) var reader: ServerSentEventReader
        private var input: [UInt8] = []
        private var offset = 0

        init(_ body: ResponseBody, _ reader: ServerSentEventReader) {
            pieces = body.makeAsyncIterator()
            self.reader = reader
        }

        /// The next event; `nil` at the end of the response. An event that the response does not complete is dropped.
        public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            while true {
                let bytes = input
                do throws(StreamFault) {
                    if let event = try reader.next(bytes.span, from: &offset) { return ServerSentEvent(event) }
                } catch { throw SessionError(error) }
                guard let piece = try await pieces.next() else { return nil }
                input = piece
                offset = 0
            }
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body, ServerSentEventReader(limit: limits.eventLength))
    }
}
