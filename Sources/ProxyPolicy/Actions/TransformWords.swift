import HTTPMessage

/// The transform settings of rules. `nil` keeps the value of an earlier rule, or the default.
package struct TransformWords: Equatable, Sendable {
    package enum Nulls: UInt8, Sendable { case keep, members, everywhere }
    /// What happens when the transformation fails.
    package enum OnError: UInt8, Sendable { case fail, pass }

    package struct Setting: Equatable, Sendable {
        /// A JSON pointer (RFC 6901).
        package let place: String
        package let json: [UInt8]
    }

    package struct Reencoding: Equatable, Sendable {
        package let to: CharsetName
        /// Overrides the charset that the response declares.
        package let from: CharsetName?
    }

    package var readsPropertyLists: Bool?
    package var readsXML: Bool?
    package var nulls: Nulls?
    /// JSON pointers (RFC 6901).
    package var removals: [String]?
    package var settings: [Setting]?
    package var charset: Reencoding?
    package var contentTypes: [MediaTypePattern]?
    package var onError: OnError?
    /// The maximum lengths of a body before and after the transform, in bytes, and the maximum nesting depth.
    package var maximumBodyLength: UInt64?
    package var maximumOutputLength: UInt64?
    package var maximumDepth: Int64?
    /// The maximum time for the transform, in milliseconds.
    package var timeout: Int64?

    package init() {}

    /// Overrides these settings with those that a later rule sets.
    mutating func merge(_ later: TransformWords) {
        readsPropertyLists = later.readsPropertyLists ?? readsPropertyLists
        readsXML = later.readsXML ?? readsXML
        nulls = later.nulls ?? nulls
        removals = later.removals ?? removals
        settings = later.settings ?? settings
        charset = later.charset ?? charset
        contentTypes = later.contentTypes ?? contentTypes
        onError = later.onError ?? onError
        maximumBodyLength = later.maximumBodyLength ?? maximumBodyLength
        maximumOutputLength = later.maximumOutputLength ?? maximumOutputLength
        maximumDepth = later.maximumDepth ?? maximumDepth
        timeout = later.timeout ?? timeout
    }
}
