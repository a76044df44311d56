/// The readings of one request, with which rules are compared. They are made once, and only if a rule needs them. The storage is
/// reused.
struct RequestReadings: Sendable {
    var path = PathReadings()
    var query = QueryParameters()
    var field: [UInt8] = []

    mutating func removeAll() {
        path.removeAll()
        query.removeAll()
    }
}
