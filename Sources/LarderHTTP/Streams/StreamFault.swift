/// Why a body cannot be split into pieces.
package enum StreamFault: Error, Equatable, Sendable {
    case tooLong(limit: Int)
    /// The body is not a JSON array, or ends within it; with the offset of the fault.
    case malformedArray(offset: Int)
}
