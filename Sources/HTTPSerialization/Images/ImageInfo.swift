/// A kind of image that can be told by its first bytes.
public enum ImageKind: String, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, tiff, bmp, ico, xbm, webp, avif

    /// The media types under which it is sent, the registered or usual one first.
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

/// What the first bytes of an image say of it. Its pixels are not looked at.
public struct ImageInfo: Hashable, Sendable {
    /// By its bytes, whatever its type says.
    public let kind: ImageKind
    /// In pixels, at least 1. Of an icon's several images the largest; of an animation the canvas.
    public let width: Int
    /// In pixels, at least 1.
    public let height: Int

    /// What an image says.
    public init(kind: ImageKind, width: Int, height: Int) {
        self.kind = kind
        self.width = width
        self.height = height
    }

    /// Looks at the bytes that have come.
    /// - Parameters:
    ///   - octets: all that have come, from the first on.
    ///   - isWhole: whether there are no more.
    ///   - limits: of what is taken for an image.
    /// - Returns: `nil` while more are needed, which is never so when `isWhole`.
    /// - Throws: `ImageFault`, as soon as it is known.
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
                if isWhole { throw ImageFault(reason: .malformed, detail: "it ends before its size") }
                if octets.count >= limits.headerLength {
                    throw ImageFault(reason: .tooLarge, detail: "no size in the first \(limits.headerLength) bytes")
                }
                return nil
            }
        }
        let (pixels, overflow) = info.width.multipliedReportingOverflow(by: info.height)
        if info.width > limits.side || info.height > limits.side || overflow || pixels > limits.pixels {
            throw ImageFault(reason: .tooLarge, detail: "\(info.width) by \(info.height) pixels")
        }
        return info
    }
}

/// How large an image may say it is.
public struct ImageLimits: Hashable, Sendable {
    /// Of width and of height, in pixels.
    public var side: Int
    /// Of width by height.
    public var pixels: Int
    /// How many bytes are waited for until the size is said. A TIFF may say it at its end.
    public var headerLength: Int

    /// These limits.
    public init(side: Int = 32_767, pixels: Int = 100_000_000, headerLength: Int = 1 << 20) {
        self.side = side
        self.pixels = pixels
        self.headerLength = headerLength
    }
}

/// Why bytes are taken for no image.
public struct ImageFault: Error, Hashable, Sendable {
    /// What kind of fault it is, as a word.
    public enum Reason: String, Hashable, Sendable {
        /// No kind that is known, or not what that kind permits.
        case malformed
        /// Past a limit.
        case tooLarge = "too_large"
    }

    /// What kind of fault it is.
    public let reason: Reason
    /// What was found, or which limit it is.
    public let detail: String
}
