import HTTPMessage

/// What of the request heads read before is likely to come again: an origin, and a field section. Whoever reads many heads keeps one
/// for all of them; nothing is read otherwise with it than without.
package struct RequestHeadMemory: Sendable {
    var origin = OriginMemory()
    var fields = FieldSectionMemory()

    package init() {}
}
