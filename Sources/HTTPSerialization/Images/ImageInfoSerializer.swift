extension ResponseValidation {
    /// AFNetworking's ten image types, the registered type of icons, WebP and AVIF.
    public static let image = ResponseValidation(contentTypes: [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap", "image/vnd.microsoft.icon", "image/webp", "image/avif",
    ])
}

/// Decodes content to the format and size of the image; the value is `nil` if there is no content. Pixels are not decoded.
public struct ImageInfoSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// Limits on the size of the image.
    public var limits: ImageLimits
    /// Whether an image is rejected if its format differs from its Content-Type.
    public var requiresDeclaredKind: Bool

    /// A serializer within these limits, for these statuses and types.
    public init(
        limits: ImageLimits = ImageLimits(), requiresDeclaredKind: Bool = false, validation: ResponseValidation = .image
    ) {
        self.limits = limits
        self.requiresDeclaredKind = requiresDeclaredKind
        self.validation = validation
    }

    /// - Throws: `malformedImage`, `tooLarge`.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> ImageInfo? {
        if body.isEmpty { return nil }
        do throws(ImageFault) {
            guard let info = try ImageInfo.reading(body, isWhole: true, limits: limits) else { return nil }
            if requiresDeclaredKind { try Self.compare(info.kind, head) }
            return info
        } catch {
            throw ResponseFault(error.reason == .tooLarge ? .tooLarge : .malformedImage, error.detail)
        }
    }

    private static func compare(_ kind: ImageKind, _ head: ReceivedHead) throws(ImageFault) {
        let kinds = ResponseValidation(contentTypes: kind.mediaTypes.compactMap { MediaTypeRange($0) })
        if !kinds.accepts(contentTypeOf: head, hasBody: true) {
            let declared = head.contentTypes.first ?? "missing"
            throw ImageFault(reason: .malformed, detail: "the format is \(kind.rawValue), but Content-Type is \(declared)")
        }
    }
}
