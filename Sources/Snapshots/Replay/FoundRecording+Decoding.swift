import HTTPMessage
import SecretScanning

extension FoundRecording {
    /// Decodes the content for a client that does not accept its content codings.
    /// - Parameter lengthLimit: the maximum decoded length, in bytes.
    /// - Returns: the recording with its fields adjusted, and the decoded content; `nil` if the content cannot be decoded.
    package func decoded(_ octets: [UInt8], lengthLimit: UInt64) -> (FoundRecording, body: [UInt8])? {
        guard var response = recording.response,
            let decoded = DecodedBody.decoded(octets, describedBy: response.fields, lengthLimit: lengthLimit)
        else { return nil }
        Redactor.describe(decoded, in: &response.fields)
        Redactor.describe(decoded, in: &response.trailers)
        var recording = recording
        recording.response = response
        let found = FoundRecording(
            recording: recording, place: place, position: position, sequenceLength: sequenceLength, isFromGet: isFromGet)
        return (found, decoded)
    }
}
