import HTTPMessage
import HTTPSerialization

/// The canonicaliser that takes differences away, where one can.
struct CanonicaliserProposal {
    /// `nil` where there is nothing that it could take away, or something that it could not.
    private(set) var canonicaliser: Canonicaliser?

    init(for differences: [RequestDifference], of request: RequestToMatch) {
        guard !differences.isEmpty else { return }
        let uri = SplitURI(request.uri)
        var proposed = Canonicaliser(uri: String(decoding: uri.origin + uri.path, as: UTF8.self) + "*")
        for difference in differences {
            switch difference.place {
            case .parameter(let name): proposed.ignoredParameters.append(name)
            case .parameterOrder: proposed.sortsQuery = true
            case .field(let name): proposed.ignoredFields.append(name)
            case .formField(let name): proposed.ignoredFormFields.append(name)
            case .json(let pointer):
                guard let pointer = JSONPointer(pointer), !pointer.parts.isEmpty else { return }
                proposed.ignoredPointers.append(pointer)
            case .path:
                guard let replacement = Self.replacement(difference) else { return }
                proposed.uri = String(decoding: uri.origin, as: UTF8.self) + "/*"
                proposed.replacements.append(replacement)
            case .method, .origin, .body, .secret: return
            }
        }
        canonicaliser = proposed
    }

    /// For paths that differ in one segment alone: the segments before it with any segment behind.
    private static func replacement(_ difference: RequestDifference) -> Canonicaliser.Replacement? {
        let recorded = difference.recorded?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        let offered = difference.offered?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        let different = zip(recorded, offered).enumerated().filter { $0.element.0 != $0.element.1 }
        guard recorded.count == offered.count, different.count == 1, let place = different.first?.offset, place > 0 else {
            return nil
        }
        let before = recorded[1..<place].map { "/" + escaped($0) }.joined()
        return Canonicaliser.Replacement(
            .uri, before + "/[^/?]+", by: recorded[1..<place].map { "/" + $0 }.joined() + "/{segment}")
    }

    private static func escaped(_ text: Substring) -> String {
        text.map { "\\.+*?()[]{}|^$".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
