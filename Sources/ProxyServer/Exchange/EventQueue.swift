import ProxyCore

/// Events that occur while another is being handled, in order. There is rarely more than one such event, and a single event needs no array.
struct EventQueue {
    private var first: ExchangeEvent?
    private var others: [ExchangeEvent] = []

    mutating func append(_ event: consuming ExchangeEvent) {
        if case .none = first { first = event } else { others.append(event) }
    }

    var isEmpty: Bool { if case .none = first { true } else { false } }

    mutating func removeFirst() -> ExchangeEvent {
        guard let event = first.take() else { preconditionFailure("there is no event") }
        if !others.isEmpty { first = others.removeFirst() }
        return event
    }
}
