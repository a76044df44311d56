/// An image format that can be recognized by its first bytes.
public enum ImageKind: String, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, tiff, bmp, ico, xbm, webp, avif

    /// The media types used for this format, the registered or usual one first.
    public var mediaTypes: [String] {
        switch self {
        case .png: ["image/png"]
        case .jpeg: ["image/jpeg", "image/jpg", "image/pjpeg"]
        case .gif: ["image/gif"]
        case .tiff: ["image/tiff"]
        case .bmp: ["image/bmp", "image/x-bmp", "image/x-ms-bmp", "image/x-win-bitmap"]
        case .ico: ["image/vnd.microsoft.icon", "image/x-icon", "image/ico"]
        case .xbm: ["image/x-xbitmap"]
        case .webp: ["image/webp"]
        case .avif: ["image/avif"]
        }
    }
}

/// Format and size of an image, from its first bytes. Pixels are not decoded.
public struct ImageInfo: Hashable, Sendable {
    /// The image format, determined from the bytes, not from the media type.
    public let kind: ImageKind
    /// The width in pixels, at least 1. For an icon, it is the width of the largest image; for an animation, the width of the canvas.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int

    /// The format and size of an image.
    public init(kind: ImageKind, width: Int, height: Int) {
        self.kind = kind
        self.width = width
        self.height = height
    }

    /// Reads format and size from the bytes received so far.
    /// - Parameters:
    ///   - octets: all bytes received, from the first on.
    ///   - isWhole: whether the image ends here.
    ///   - limits: limits on the size of the image.
    /// - Returns: `nil` if more bytes are needed; never `nil` if `isWhole` is `true`.
    /// - Throws: `ImageFault`, as soon as a fault is known.
    public static func reading(
        _ octets: [UInt8], isWhole: Bool, limits: ImageLimits = ImageLimits()
    ) throws(ImageFault) -> ImageInfo? {
        let info: ImageInfo
        do throws(ImageStop) {
            info = try ImageHeaders.read(HeaderOctets(octets))
        } catch {
            switch error {
            case .malformed(let detail): throw ImageFault(reason: .malformed, detail: detail)
            case .needsMore:
                if isWhole {
                    throw ImageFault(reason: .malformed, detail: "the image data ends before the image's width and height")
                }
                if octets.count >= limits.headerLength {
                    throw ImageFault(
                        reason: .tooLarge,
                        detail: "the first \(limits.headerLength) bytes do not contain the image's width and height")
                }
                return nil
            }
        }
        let (pixels, overflow) = info.width.multipliedReportingOverflow(by: info.height)
        if info.width > limits.side || info.height > limits.side || overflow || pixels > limits.pixels {
            throw ImageFault(reason: .tooLarge, detail: "the image is too large: \(info.width) by \(info.height) pixels")
        }
        return info
    }
}

/// Limits on the size that an image declares.
public struct ImageLimits: Hashable, Sendable {
    /// Maximum width and height, in pixels.
    public var side: Int
    /// Maximum of width times height.
    public var pixels: Int
    /// The size must be within this many bytes from the beginning of the image. A TIFF may have its size at the end.
    public var headerLength: Int

    /// Creates limits with these values.
    public init(side: Int = 32_767, pixels: Int = 100_000_000, headerLength: Int = 1 << 20) {
        self.side = side
        self.pixels = pixels
        self.headerLength = headerLength
    }
}

/// Why bytes are not accepted as an image.
public struct ImageFault: Error, Hashable, Sendable {
    /// The kind of fault.
    public enum Reason: String, Hashable, Sendable {
        /// The format is unknown, or the bytes are not valid in their format.
        case malformed
        /// A limit is exceeded.
        case tooLarge = "too_large"
    }

    /// The kind of fault.
    public let reason: Reason
    /// The problem found, or the limit exceeded.
    public let detail: String
}
