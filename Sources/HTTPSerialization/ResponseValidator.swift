import HTTPMessage

/// Validates a whole response: its media type, then its status, then its body.
///
/// A response of an unacceptable type is not parsed. A response with an unacceptable status is parsed, so that both faults are
/// reported.
package struct ResponseValidator: Sendable {
    package var headChecks: ResponseHeadChecks
    /// Whether the body must be well-formed JSON.
    package var checksJSON: Bool
    package var limits: BodyCheckLimits

    package init(
        headChecks: ResponseHeadChecks = ResponseHeadChecks(), checksJSON: Bool = false,
        limits: BodyCheckLimits = BodyCheckLimits()
    ) {
        self.headChecks = headChecks
        self.checksJSON = checksJSON
        self.limits = limits
    }

    package func faults(of head: ResponseHead, body: [UInt8], to method: Method) -> ValidationFaults {
        var faults = headChecks.faults(of: head, to: method, hasBody: !body.isEmpty)
        if checksJSON, !faults.contains(.unacceptableContentType) {
            faults.insert(BodyCheck(json: ContentCodings(of: head.fields), limits: limits).outcome(of: body))
        }
        return faults
    }
}
