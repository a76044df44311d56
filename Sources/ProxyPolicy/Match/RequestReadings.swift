/// What rules read of one request, made once and only if a rule needs it. The storage is reused.
struct RequestReadings: Sendable {
    var path = PathReadings()
    var query = QueryParameters()
    var field: [UInt8] = []

    mutating func removeAll() {
        path.removeAll()
        query.removeAll()
    }
}
