/// The readings of one request that rules match, made once and only if a rule needs them. The storage is reused.
struct RequestReadings: Sendable {
    var path = PathReadings()
    var query = QueryParameters()
    var field: [UInt8] = []

    mutating func removeAll() {
        path.removeAll()
        query.removeAll()
    }
}
