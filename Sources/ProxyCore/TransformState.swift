import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The transform of the content that a rule requires: it is decided from the response's head, made by the driver, and delivered in place of
/// the original content.
///
///     nothing ──decide──▶ `source` ──transformed, bodyChecked──▶ `end` ──▶ `head`, `variant`
package struct TransformState: RareState, Sendable {
    /// The format of the original content; `nil` if it is not transformed.
    package internal(set) var source: TransformPlan.Source?
    package internal(set) var end: TransformEnd?
    /// The head of the transformed response, if the original content came from the origin and not from the store.
    var head: ResponseHead?

    var isEmpty: Bool { source == nil && end == nil && head == nil }

    enum Decision {
        case nothing
        case skip(TransformSkip)
        case make(TransformPlan.Source)
        case fault(TransformFault)
    }

    /// Decides from the response's head alone whether to transform the content.
    mutating func decide(
        _ plan: TransformPlan?, for response: ResponseHead, length: BodyLength, to request: Fields, isForbidden: Bool
    ) -> Decision {
        source = nil
        guard let plan, response.status.code >= 200, response.status.code != 204, response.status != .notModified,
            length != .known(0)
        else { return .nothing }
        if isForbidden || response.fields.forbidTransforming { return .skip(.noTransform) }
        if request.forbidTransforming { return .skip(.requestNoTransform) }
        guard let source = plan.source(for: response.fields) else { return .skip(.contentType) }
        if response.status == .partialContent || response.fields.contains(.contentRange) { return .fault(.partialContent) }
        if case .known(let length) = length, length > plan.maximumBodyLength { return .fault(.bodyTooLarge) }
        self.source = source
        return .make(source)
    }

    /// Sets `head` for the origin's response. The digest is `nil` if the content is not known: for HEAD, and in a dry run.
    mutating func makeHead(of response: ResponseHead, by plan: TransformPlan?, digest: [UInt8]?) {
        guard let plan, let source else { return head = nil }
        head = TransformedHead.make(of: response, by: plan, from: source, digest: digest)
    }

    /// The transformed response that replaces the stored response for requests under the same rules.
    func variant(of stored: StoredResponse, by plan: TransformPlan?, digest: [UInt8]?, body: StoredBody) -> StoredResponse? {
        guard let plan, let source else { return nil }
        let head = TransformedHead.make(of: stored.head, by: plan, from: source, digest: digest)
        var facts = stored.facts
        facts.flags.remove([.strongETag, .weakETag, .lastModified])
        if let line = head.fields.entityTagLine, let tag = EntityTag(head.fields.value(of: line)) {
            facts.flags.insert(tag.isWeak ? .weakETag : .strongETag)
        }
        return StoredResponse(
            key: stored.key, nominatedFields: stored.nominatedFields, facts: facts, head: head, requestTime: stored.requestTime,
            body: body, tags: stored.tags, chain: stored.chain, row: stored.row)
    }
}
