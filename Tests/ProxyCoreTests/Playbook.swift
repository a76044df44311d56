import HTTPCaching
import HTTPMessage
import HTTPWire
import ProxyPolicy
import Testing

@testable import ProxyCore

/// Events of an exchange and the expected commands, alternately:
///
///     try book.run(
///         .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
///         .found([stored]), [.sendStored],
///         .delivered, [.finish])
///
/// Every head written on the way is parsed and checked (`WrittenHead`).
final class Playbook {
    enum Step: ExpressibleByArrayLiteral, Sendable {
        case request(String, [String])
        case response(Int, [String])
        case passes(seconds: Int64)
        case event(@Sendable (Timestamp) -> ExchangeEvent)
        case commands([ExchangeCommand])

        init(arrayLiteral elements: ExchangeCommand...) { self = .commands(elements) }

        static func request(_ line: String, _ fields: String...) -> Step { .request(line, fields) }
        static func response(_ status: Int, _ fields: String...) -> Step { .response(status, fields) }
        static func found(_ responses: [StoredResponse], isComplete: Bool = true) -> Step {
            .event { .lookedUp(responses, isComplete: isComplete, at: $0) }
        }
        static let leads = Step.event { .leadsFetch(at: $0) }
        static func shared(_ response: StoredResponse) -> Step { .event { .fetchShared(response, at: $0) } }
        static let alone = Step.event { .fetchesAlone(at: $0) }
        static let notShared = Step.event { .fetchNotShared(at: $0) }
        static let abandoned = Step.event { .fetchAbandoned(at: $0) }
        static func fails(_ fault: Fault) -> Step { .event { .upstreamFailed(fault, at: $0) } }
        static func checked(_ outcome: BodyCheckOutcome, length: UInt64?) -> Step {
            .event { .bodyChecked(outcome, length: length, at: $0) }
        }
        static let validates = Step.event { .validates(at: $0) }
        static let tunnelOpened = Step.event { .tunnelOpened(at: $0) }
        static func tunnelRefused(_ fault: Fault) -> Step { .event { .tunnelRefused(fault, at: $0) } }
        static let delivered = Step.event { .deliveryEnded(isComplete: true, at: $0) }
        static let cut = Step.event { .deliveryEnded(isComplete: false, at: $0) }
        static let clientGone = Step.event { .clientGone(at: $0) }
    }

    var exchange: Exchange
    var now = Messages.epoch
    /// The head written last; for generated responses with its body.
    private(set) var written: WrittenHead?
    /// The 101 that was written.
    private(set) var switched = ""
    /// The last request head written for the origin.
    private(set) var forwarded: RequestHead?

    convenience init(rules: [[String: Setting]] = []) throws {
        self.init(context: ExchangeContext(rules: try Setting.rules(rules)))
    }

    init(context: ExchangeContext) {
        exchange = Exchange(context: context)
        exchange.begin(id: 0xA1B2, context: context)
    }

    /// A playbook for the background validation of the response that this one has served.
    func validating() -> Playbook {
        let book = Playbook(context: exchange.context)
        book.exchange.begin(id: 0xA1B3, validating: exchange)
        book.now = now
        return book
    }

    func run(_ steps: Step..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        var given: [ExchangeCommand] = []
        for (index, step) in steps.enumerated() {
            if case .commands(let expected) = step {
                #expect(given == expected, "step \(index)", sourceLocation: sourceLocation)
                given = []
                continue
            }
            #expect(given.isEmpty, "step \(index)", sourceLocation: sourceLocation)
            given = try give(step, sourceLocation)
        }
        #expect(given.isEmpty, "at the end", sourceLocation: sourceLocation)
    }

    /// The commands that an event causes.
    func handle(_ event: ExchangeEvent) -> [ExchangeCommand] {
        var buffer = CommandBuffer()
        exchange.handle(event, into: &buffer)
        return (0..<buffer.count).map { buffer[$0] }
    }

    private func give(_ step: Step, _ sourceLocation: SourceLocation) throws -> [ExchangeCommand] {
        let commands: [ExchangeCommand]
        switch step {
        case .commands: return []
        case .passes(let seconds):
            now = now.advanced(seconds: seconds)
            return []
        case .request(let line, let fields):
            try Messages.read(Messages.requestText(line, fields), into: &exchange.request)
            commands = handle(.requestHead(body: try BodyFraming.ofRequest(exchange.request).bodyLength, at: now))
        case .response(let status, let fields):
            let received = ReceivedHead()
            try Messages.read(Messages.responseText(status, fields), into: &received.head)
            if status == 101 {
                commands = handle(.protocolSwitched(received, at: now))
                break
            }
            let framing = try BodyFraming.ofResponse(received.head, to: exchange.request.method)
            commands = handle(.upstreamHead(received, body: framing.bodyLength, at: now))
        case .event(let event): commands = handle(event(now))
        }
        for command in commands { try write(for: command, sourceLocation) }
        return commands
    }

    private func write(for command: ExchangeCommand, _ sourceLocation: SourceLocation) throws {
        var bytes: [UInt8] = []
        switch command {
        case .relay where exchange.isBackground, .sendChecked where exchange.isBackground: return
        case .sendStored: exchange.writeStoredHead(at: now, into: &bytes)
        case .relay, .sendChecked: exchange.writeRelayedHead(at: now, into: &bytes)
        case .sendError: exchange.writeError(at: now, into: &bytes)
        case .sendLocal: exchange.writeLocal(at: now, into: &bytes)
        case .fetch: return try writeForwarded(sourceLocation)
        case .relaySwitched:
            exchange.writeSwitchedHead(into: &bytes)
            return switched = String(decoding: bytes, as: UTF8.self)
        case .finish:
            #expect(exchange.state == .finished, sourceLocation: sourceLocation)
            return
        default: return
        }
        let head = try WrittenHead(bytes, method: exchange.request.method)
        written = head
        let faults = head.faults(in: exchange)
        #expect(faults == [], "\(String(decoding: bytes, as: UTF8.self))", sourceLocation: sourceLocation)
        if command == .sendError || command == .sendLocal {
            let length = exchange.request.method == .head ? BodyFraming.none : .length(UInt64(head.body.count))
            #expect(head.framing == length, sourceLocation: sourceLocation)
        } else {
            #expect(head.body.isEmpty, "the head ends early", sourceLocation: sourceLocation)
        }
    }

    /// The request for the origin, parsed by the strict parser.
    private func writeForwarded(_ sourceLocation: SourceLocation) throws {
        var bytes: [UInt8] = []
        exchange.writeForwardedHead(into: &bytes)
        var head = RequestHead()
        try Messages.read(String(decoding: bytes, as: UTF8.self), into: &head)
        forwarded = head
        #expect(try BodyFraming.ofRequest(head).bodyLength == exchange.incoming.body, sourceLocation: sourceLocation)
        #expect(head.method == exchange.request.method, sourceLocation: sourceLocation)
        #expect(head.version == .http11, sourceLocation: sourceLocation)
        #expect(head.fields.combinedValue(of: .via)?.hasSuffix("larder") == true, sourceLocation: sourceLocation)
        let isForSwitch = exchange.incoming.isForSwitch
        for field in [KnownField.connection, .upgrade] { #expect(head.fields.contains(field) == isForSwitch) }
        for field in [KnownField.keepAlive, .te, .proxyAuthorization, .proxyConnection, .proxy, .http2Settings] {
            #expect(!head.fields.contains(field), "\(field) is for one hop", sourceLocation: sourceLocation)
        }
    }

    /// The response as it would be stored.
    func stored(_ body: String) -> StoredResponse? { exchange.makeStoredResponse(body: .bytes(Array(body.utf8))) }

    /// The value of a field in the request that was sent to the origin.
    func forwarded(_ name: String) -> String? {
        guard let forwarded else { return nil }
        let values = forwarded.fields.lines
            .filter { forwarded.fields.text(of: $0.name).lowercased() == name.lowercased() }
            .map { forwarded.fields.text(of: $0.value) }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
