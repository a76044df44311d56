/// Changes of a JSON value, in their order: nulls are left out, then places are taken out, then places are set.
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

    /// The nulls have been left out already. What is not there need not be taken out.
    /// - Returns: `false` where there is nowhere to put what is to be set: nothing around it is made.
    func apply(to value: inout JSONValue) -> Bool {
        for place in removals { _ = value.remove(at: place) }
        return settings.allSatisfy { value.set($0.value, at: $0.place) }
    }
}
