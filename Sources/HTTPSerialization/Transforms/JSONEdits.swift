/// Edits of a JSON value, in this order: nulls are removed, then positions are removed, then positions are set.
package struct JSONEdits: Sendable {
    package var nulls: NullRemoval
    package var removals: [JSONPointer]
    package var settings: [(place: JSONPointer, value: JSONValue)]

    package init(
        nulls: NullRemoval = .never, removals: [JSONPointer] = [], settings: [(place: JSONPointer, value: JSONValue)] = []
    ) {
        self.nulls = nulls
        self.removals = removals
        self.settings = settings
    }

    /// Applies the edits; nulls have been removed before. Removing a missing position is not an error.
    /// - Returns: `false` if a position cannot be set: missing containers are not created.
    func apply(to value: inout JSONValue) -> Bool {
        for place in removals { _ = value.remove(at: place) }
        return settings.allSatisfy { value.set($0.value, at: $0.place) }
    }
}
