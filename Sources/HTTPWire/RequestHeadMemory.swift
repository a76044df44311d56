import HTTPMessage

/// The parts of previous request heads that are likely to repeat: the origin and the field section. A reader of many heads shares one
/// memory among all its parsers. The memory changes no result.
package struct RequestHeadMemory: Sendable {
    var origin = OriginMemory()
    var fields = FieldSectionMemory()

    package init() {}
}
