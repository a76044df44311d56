import HTTPMessage
import SecretScanning

extension FoundRecording {
    /// The same recording with its body out of its codings, for a client that does not know them, and that body. Its fields say what is so then.
    /// - Parameter lengthLimit: of what comes out of them, in bytes.
    /// - Returns: `nil` where they cannot be seen through.
    package func decoded(_ octets: [UInt8], lengthLimit: UInt64) -> (FoundRecording, body: [UInt8])? {
        guard var response = recording.response,
            let decoded = DecodedBody.decoded(octets, describedBy: response.fields, lengthLimit: lengthLimit)
        else { return nil }
        Redactor.describe(decoded, in: &response.fields)
        var recording = recording
        recording.response = response
        let found = FoundRecording(
            recording: recording, place: place, position: position, sequenceLength: sequenceLength, isFromGet: isFromGet)
        return (found, decoded)
    }
}
