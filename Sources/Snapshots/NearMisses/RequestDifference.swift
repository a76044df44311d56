/// One thing in which a request differs from a recorded one. Values are those of the canonical requests: no secret stands in them.
package struct RequestDifference: Equatable, Sendable {
    package enum Place: Equatable, Sendable {
        case method
        /// Scheme, host and port.
        case origin
        case path
        case parameter(String)
        /// Query parameters in another order.
        case parameterOrder
        case field(String)
        /// A JSON pointer.
        case json(String)
        case formField(String)
        case body
        /// A credential that is another one under the project's key.
        case secret
    }

    package let place: Place
    /// `nil` where it was not there.
    package let recorded: String?
    package let offered: String?

    init(_ place: Place, recorded: String?, offered: String?) {
        self.place = place
        self.recorded = recorded.map(Self.shortened)
        self.offered = offered.map(Self.shortened)
    }

    /// Characters of a value that are told.
    static let valueLimit = 200

    private static func shortened(_ value: String) -> String {
        value.count > valueLimit ? String(value.prefix(valueLimit)) + "…" : value
    }

    /// What stands in texts: `query parameter page`.
    package var name: String {
        switch place {
        case .method: "method"
        case .origin: "origin"
        case .path: "path"
        case .parameter(let name): "query parameter \(name)"
        case .parameterOrder: "order of query parameters"
        case .field(let name): "field \(name)"
        case .json(let pointer): "JSON \(pointer)"
        case .formField(let name): "form field \(name)"
        case .body: "body"
        case .secret: "secret"
        }
    }
}
