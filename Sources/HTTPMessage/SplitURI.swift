/// The parts of a target URI as written.
package struct SplitURI {
    package let origin: [UInt8]
    package let path: [UInt8]
    /// The query without the question mark.
    package let query: [UInt8]

    package init(_ uri: [UInt8]) {
        let scheme = (uri.firstIndex(of: ASCII.colon) ?? -3) + 3
        let start = min(max(scheme, 0), uri.count)
        let slash = uri[start...].firstIndex { $0 == ASCII.slash || $0 == ASCII.question } ?? uri.count
        let question = uri[slash...].firstIndex(of: ASCII.question) ?? uri.count
        origin = Array(uri[..<slash])
        path = Array(uri[slash..<question])
        query = Array(uri[min(question + 1, uri.count)...])
    }

    package var parameters: [(name: [UInt8], value: [UInt8])] { Self.pairs(query[...]) }

    package static func pairs(_ text: ArraySlice<UInt8>) -> [(name: [UInt8], value: [UInt8])] {
        text.split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != ASCII.equals }
            return (Array(name), Array(pair.dropFirst(name.count + 1)))
        }
    }
}
