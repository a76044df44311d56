/// A difference between a request and a recorded request. Its values come from the canonical requests, so they contain no secrets.
package struct RequestDifference: Equatable, Sendable {
    package enum Place: Equatable, Sendable {
        case method
        /// Scheme, host or port differ.
        case origin
        case path
        case parameter(String)
        /// The order of query parameters differs.
        case parameterOrder
        case field(String)
        /// A value in a JSON body differs. A JSON pointer names its place.
        case json(String)
        case formField(String)
        case body
        /// A credential differs, as the project key shows.
        case secret
    }

    package let place: Place
    /// The recorded value; `nil` if the recording has no value in this place.
    package let recorded: String?
    package let offered: String?

    init(_ place: Place, recorded: String?, offered: String?) {
        self.place = place
        self.recorded = recorded.map(Self.shortened)
        self.offered = offered.map(Self.shortened)
    }

    /// The maximum length of a displayed value, in characters.
    static let valueLimit = 200

    private static func shortened(_ value: String) -> String {
        value.count > valueLimit ? String(value.prefix(valueLimit)) + "…" : value
    }

    /// The place of the difference, as users read it, such as `query parameter page`.
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
