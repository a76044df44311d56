import HTTPWire

extension ParseLimits {
    /// Small enough that short inputs stand on both sides of every limit.
    package static var tight: ParseLimits {
        var limits = ParseLimits()
        limits.requestLineLength = 120
        limits.statusLineLength = 60
        limits.headLength = 360
        limits.fieldCount = 8
        limits.leadingEmptyLineCount = 2
        limits.clientHelloLength = 160
        limits.chunkLineLength = 24
        limits.chunkExtensionsLength = 40
        limits.trailerSectionLength = 120
        limits.trailerFieldCount = 4
        return limits
    }

    /// The default or the tight limits, by the octets: nearly the same input meets both.
    package static func chosen(by octets: [UInt8]) -> ParseLimits {
        Cuts.hash(of: octets) >> 60 & 1 == 0 ? ParseLimits() : .tight
    }
}
