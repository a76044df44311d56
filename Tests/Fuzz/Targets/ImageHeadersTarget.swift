import HTTPSerialization

extension FuzzTarget {
    /// An image's first octets: what has been told stays, however many more come, and what has been refused stays refused; sizes are within the
    /// limits; a whole one is never waited for.
    package static let imageHeaders = FuzzTarget("ImageHeaders") { octets in
        let limits = ImageLimits(side: 5_000, pixels: 1_000_000, headerLength: 4096)
        var known: Reading?
        for count in Cuts.some(of: octets) {
            let prefix = Array(octets.prefix(count))
            let reading = Reading(prefix, isWhole: false, limits)
            if let known, known != reading { return "more octets change what was told" }
            if reading != .waits { known = reading }
            let whole = Reading(prefix, isWhole: true, limits)
            if whole == .waits { return "waits for more than there is" }
            if reading != .waits && whole != reading { return "the end changes what was told" }
            if case .told(let info) = whole {
                if info.width < 1 || info.height < 1 || info.width > limits.side || info.width * info.height > limits.pixels {
                    return "past a limit"
                }
            }
        }
        return nil
    }

    private enum Reading: Equatable {
        case told(ImageInfo), waits, refused

        init(_ octets: [UInt8], isWhole: Bool, _ limits: ImageLimits) {
            do throws(ImageFault) {
                let info = try ImageInfo.reading(octets, isWhole: isWhole, limits: limits)
                self = info.map(Reading.told) ?? .waits
            } catch {
                self = .refused
            }
        }
    }
}
