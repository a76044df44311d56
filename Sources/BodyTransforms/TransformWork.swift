import HTTPMessage
import HTTPSerialization
import ProxyCore
import ProxyPolicy

/// A rule's transform of one body, in the types of the transform module. It is prepared on the loop, and carried out on another thread.
package struct TransformWork: Sendable {
    private let transform: ContentTransform
    package let patience: WorkPatience

    package init(_ plan: TransformPlan, from source: TransformPlan.Source, of head: borrowing ResponseHead) {
        var limits = ContentTransform.Limits()
        limits.bodyLength = plan.maximumBodyLength
        limits.outputLength = plan.maximumOutputLength
        limits.depth = plan.maximumDepth
        transform = ContentTransform(Self.work(plan.words, source), of: head, limits: limits)
        patience = WorkPatience(milliseconds: plan.timeout)
    }

    package func end(of body: [UInt8]) -> TransformEnd {
        do throws(TransformFault) {
            let content = try transform.content(of: body, isOverdue: { patience.isOver })
            let hasher = DigestHasher(.sha256)
            hasher.update(content.span)
            let digest = Hexadecimal.encode(hasher.finish().octets.prefix(8))
            return .made(TransformedContent(body: content, digest: Array(digest.utf8)))
        } catch {
            return .failed(error)
        }
    }

    private static func work(_ words: TransformWords, _ source: TransformPlan.Source) -> ContentTransform.Work {
        switch source {
        case .json: .json(from: .json, edits(words))
        case .xml: .json(from: .xml, edits(words))
        case .propertyList: .json(from: .propertyList, edits(words))
        case .text:
            .text(
                from: words.charset?.from.flatMap { Charset($0.text) }, to: words.charset.flatMap { Charset($0.to.text) } ?? .utf8
            )
        }
    }

    /// Parsing these values cannot fail: the same parser already accepted them in the settings.
    private static func edits(_ words: TransformWords) -> JSONEdits {
        var edits = JSONEdits()
        edits.nulls =
            switch words.nulls ?? .keep {
            case .keep: .never
            case .members: .members
            case .everywhere: .everywhere
            }
        edits.removals = (words.removals ?? []).map { place in
            guard let pointer = JSONPointer(place) else {
                preconditionFailure("the rule's pointer was judged by another grammar")
            }
            return pointer
        }
        edits.settings = (words.settings ?? []).map { setting in
            // This cannot fail: the settings accept no value that is nested too deeply.
            guard let pointer = JSONPointer(setting.place), let value = try? JSONValue(parsing: setting.json) else {
                preconditionFailure("the rule's value was written by another grammar")
            }
            return (pointer, value)
        }
        return edits
    }
}
