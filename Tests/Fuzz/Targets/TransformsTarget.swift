import HTTPMessage
import HTTPSerialization

extension FuzzTarget {
    /// What is made of content; the first byte chooses what, the second the coding or the charset. It is the same each time, within the limits,
    /// and what it says it is: JSON without the nulls that were to go, in which nothing is left to do, or the same text. Ended early, it is that
    /// or nothing.
    package static let transforms = FuzzTarget("Transforms") { octets in
        guard octets.count > 2 else { return nil }
        let body = Array(octets[2...])
        let (work, isJSON) = work(octets[0], octets[1])
        let transform = ContentTransform(work, of: head(octets[0], octets[1]), limits: limits)
        let made = content(transform, body, isOverdue: { false })
        if made == .failure(.timedOut) { return "out of time" }
        if content(transform, body, isOverdue: { false }) != made { return "another time it is something else" }
        for patience in 0..<3 {
            let questions = Questions(before: patience)
            let ended = content(transform, body, isOverdue: questions.isOver)
            if ended != made, ended != .failure(.timedOut) { return "ended early it is something else" }
        }
        guard case .success(let text) = made else { return nil }
        if text.count > limits.outputLength { return "past the limit" }
        return isJSON ? fault(ofJSON: text, work, body, isPlain: octets[1] % 4 == 0) : fault(ofText: text, work)
    }

    private static let limits: ContentTransform.Limits = {
        var limits = ContentTransform.Limits()
        limits.bodyLength = 4096
        limits.outputLength = 2048
        limits.depth = 12
        return limits
    }()

    private final class Questions {
        private var left: Int
        init(before count: Int) { left = count }
        func isOver() -> Bool {
            left -= 1
            return left < 0
        }
    }

    private static let charsets = [
        "utf-8", "iso-8859-1", "windows-1252", "utf-16", "shift_jis", "gb18030", "koi8-r", "iso-2022-jp",
    ]

    private static func work(_ kind: UInt8, _ choice: UInt8) -> (ContentTransform.Work, isJSON: Bool) {
        let forms = [ContentTransform.Form.json, .json, .xml, .propertyList]
        let nulls = [NullRemoval.never, .members, .everywhere][Int(kind / 8) % 3]
        var edits = JSONEdits(nulls: nulls)
        switch kind % 8 {
        case 0..<4:
            if kind % 8 == 1 {
                edits.removals = ["/a", "/0/b", "/b/1"].compactMap { JSONPointer($0) }
                edits.settings = ["/a", "/b/0"].compactMap { JSONPointer($0) }.map { ($0, ["x", nil]) }
            }
            return (.json(from: forms[Int(kind % 8)], edits), true)
        default:
            let names = charsets.map { Charset($0) }
            let from = kind % 8 < 6 ? names[Int(choice) % names.count] : nil
            return (.text(from: from, to: names[Int(choice / 8) % names.count] ?? .utf8), false)
        }
    }

    private static func head(_ kind: UInt8, _ choice: UInt8) -> ResponseHead {
        var head = ResponseHead()
        let isText = kind % 8 >= 4
        head.fields.append(
            name: "Content-Type", value: isText ? "text/plain; charset=\(charsets[Int(choice) % charsets.count])" : "a/b")
        let codings = ["", "gzip", "br", "zstd"]
        let coding = isText ? "" : codings[Int(choice) % codings.count]
        if !coding.isEmpty { head.fields.append(name: "Content-Encoding", value: coding) }
        return head
    }

    private static func content(
        _ transform: ContentTransform, _ body: [UInt8], isOverdue: @escaping () -> Bool
    ) -> Result<[UInt8], TransformFault> {
        Result { () throws(TransformFault) in try transform.content(of: body, isOverdue: isOverdue) }
    }

    private static func fault(ofJSON text: [UInt8], _ work: ContentTransform.Work, _ body: [UInt8], isPlain: Bool) -> String? {
        guard case .json(let form, let edits) = work else { return "no JSON was wanted" }
        if text.isEmpty || text == [0x20] { return nil }
        // A list in a list in a list is deeper as JSON by no more than the elements around it.
        guard let value = try? JSONValue(parsing: text) else { return "what was made is no JSON" }
        if value.text() != text { return "there are shorter words for it" }
        let isEdited = !edits.settings.isEmpty
        if !isEdited, value.removingNulls(edits.nulls) != value { return "a null is left" }
        // Two ways to leave out nulls: while the text is copied, and out of its value.
        guard case .json = form, isPlain, !isEdited else { return nil }
        guard let plain = try? JSONValue(parsing: body) else { return "made of what is no JSON" }
        return plain.removingNulls(edits.nulls).text() == text ? nil : "its value without nulls is another text"
    }

    private static func fault(ofText text: [UInt8], _ work: ContentTransform.Work) -> String? {
        guard case .text(_, let to) = work else { return "no text was wanted" }
        return (try? to.text(of: text)) == nil ? "what was made is no text of its charset" : nil
    }
}
