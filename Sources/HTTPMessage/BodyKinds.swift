/// The kinds of content that a rule accepts. A body must be of one of these kinds.
package struct BodyKinds: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let json = BodyKinds(rawValue: 1 << 0)
    package static let xml = BodyKinds(rawValue: 1 << 1)
    package static let propertyList = BodyKinds(rawValue: 1 << 2)
    package static let image = BodyKinds(rawValue: 1 << 3)

    /// All kinds, in the order in which Larder tries them.
    package static let all: [BodyKinds] = [.json, .xml, .propertyList, .image]
}
