import HTTPMessage

/// The parts of previous request heads that are likely to repeat: the origin and the field section. Code that reads many heads shares
/// one memory among all its parsers. The memory saves time and changes no result.
package struct RequestHeadMemory: Sendable {
    var origin = OriginMemory()
    var fields = FieldSectionMemory()

    package init() {}
}
