/// How the requests of a test differ from its script. Test libraries print the description of a thrown error.
public struct ScriptFailure: Error, Equatable, CustomStringConvertible {
    /// What differs, in sentences.
    public let description: String
}
