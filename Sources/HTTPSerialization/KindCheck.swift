import HTTPMessage

/// Checks whether decoded content is of one of several kinds.
struct KindCheck {
    private let kinds: BodyKinds
    private let limits: BodyCheckLimits
    private let head: ReceivedHead

    init(_ check: BodyCheck) {
        kinds = check.kinds
        limits = check.limits
        head = check.head
    }

    /// Empty content and a single space are accepted for every kind: some servers send them for an empty response (features
    /// V4 and V6 in docs/threats.md).
    func outcome(of content: [UInt8]) -> BodyCheckOutcome {
        if content.isEmpty || content == [ASCII.space] { return .passed }
        var faults = ValidationFaults()
        var last = BodyCheckOutcome.passed
        for kind in BodyKinds.all where kinds.contains(kind) {
            guard let fault = fault(of: content, as: kind) else { return .passed }
            faults.insert(fault)
            last = fault
        }
        return faults.count > 1 ? .noneAccepts(faults) : last
    }

    private func fault(of content: [UInt8], as kind: BodyKinds) -> BodyCheckOutcome? {
        switch kind {
        case .json: faultOfJSON(content)
        case .xml: faultOfXML(content)
        case .propertyList: faultOfPropertyList(content)
        default: fault(ofImage: content, isWhole: true)
        }
    }

    private func faultOfJSON(_ content: [UInt8]) -> BodyCheckOutcome? {
        var json = JSONChecker(depthLimit: limits.jsonDepth)
        do throws(JSONFault) {
            try json.consume(content.span)
            try json.finish()
            return nil
        } catch {
            return .malformedJSON(error)
        }
    }

    private func faultOfXML(_ content: [UInt8]) -> BodyCheckOutcome? {
        guard let text = XMLText(content, of: head) else { return .malformedXML }
        do throws(XMLFault) {
            // Converted to UTF-8, a text in a single-byte charset can become three times as long.
            let reader = XMLEventReader(
                limits: XMLLimits(length: 3 * Int(clamping: min(limits.bodyLength, 1 << 40))), isUTF8: text.isUTF8)
            _ = try reader.consume(text.octets.span)
            _ = try reader.finish()
            return nil
        } catch {
            return .malformedXML
        }
    }

    private func faultOfPropertyList(_ content: [UInt8]) -> BodyCheckOutcome? {
        do throws(PropertyListFault) {
            _ = try PropertyListValue(parsing: content, limits: PropertyListLimits(length: Int(clamping: limits.bodyLength)))
            return nil
        } catch {
            return .malformedPropertyList
        }
    }

    /// - Parameter isWhole: whether the content is complete. In incomplete content, missing bytes are not a fault.
    func fault(ofImage content: [UInt8], isWhole: Bool) -> BodyCheckOutcome? {
        do throws(ImageFault) {
            guard let info = try ImageInfo.reading(content, isWhole: isWhole, limits: limits.image) else { return nil }
            return isDeclaredOtherwise(info.kind) ? .malformedImage : nil
        } catch {
            return error.reason == .tooLarge ? .imageTooLarge : .malformedImage
        }
    }

    /// Whether the Content-Type is an image type, but not a type of this format.
    private func isDeclaredOtherwise(_ kind: ImageKind) -> Bool {
        guard let type = head.contentTypes.first.map({ Array($0.utf8) }), MediaTypePattern("image/*")?.matches(type.span) == true
        else { return false }
        return !kind.mediaTypes.contains { MediaTypePattern($0)?.matches(type.span) == true }
    }
}
