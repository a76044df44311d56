/// Reads the size of an AVIF image from nested boxes (ISO/IEC 14496-12, 23008-12). The size is a property of the primary item.
struct AVIFHeader {
    private struct Box {
        let type: String
        let content: Range<Int>
    }

    private static let boxLimit = 4096

    private let header: HeaderOctets
    private var boxCount = 0

    static func read(_ header: HeaderOctets) throws(ImageStop) -> ImageInfo {
        var reader = AVIFHeader(header: header)
        return try reader.info()
    }

    private init(header: HeaderOctets) { self.header = header }

    private mutating func info() throws(ImageStop) -> ImageInfo {
        let files = try box(at: 0, before: .max)
        guard files.type == "ftyp", try names(of: files.content) else {
            throw .malformed("the first box does not declare the AVIF format")
        }
        var place = files.content.upperBound
        while true {
            let box = try box(at: place, before: .max)
            if box.type == "meta" { return try info(inMeta: box.content) }
            place = box.content.upperBound
        }
    }

    /// Whether one of the brands is an AVIF brand.
    private func names(of content: Range<Int>) throws(ImageStop) -> Bool {
        guard content.count >= 8, content.count <= 1024 else { throw .malformed("the list of brands has an invalid length") }
        for place in stride(from: content.lowerBound, through: content.upperBound - 4, by: 4)
        where place != content.lowerBound + 4 {
            if try ["avif", "avis"].contains(header.text(place, 4)) { return true }
        }
        return false
    }

    private mutating func info(inMeta content: Range<Int>) throws(ImageStop) -> ImageInfo {
        var primary: Int?
        var sizes: [(width: Int, height: Int)?] = []
        var associations: [Int: [Int]] = [:]
        // The boxes begin after the 4 bytes of version and flags.
        for box in try boxes(in: content.lowerBound + 4..<max(content.lowerBound + 4, content.upperBound)) {
            if box.type == "pitm" {
                primary = try header.big(box.content.lowerBound + 4, try header.octet(box.content.lowerBound) == 0 ? 2 : 4)
            } else if box.type == "iprp" {
                for part in try boxes(in: box.content) {
                    if part.type == "ipco" { sizes = try self.sizes(in: part.content) }
                    if part.type == "ipma" { associations = try self.associations(in: part.content) }
                }
            }
        }
        let properties = primary.flatMap { associations[$0] } ?? []
        guard let size = properties.compactMap({ sizes.indices.contains($0 - 1) ? sizes[$0 - 1] : nil }).first else {
            throw .malformed("the primary item has no size")
        }
        return try ImageHeaders.info(.avif, size.width, size.height)
    }

    /// The size in each property; `nil` for a property that is not a size.
    private mutating func sizes(in content: Range<Int>) throws(ImageStop) -> [(width: Int, height: Int)?] {
        var sizes: [(width: Int, height: Int)?] = []
        for box in try boxes(in: content) {
            let start = box.content.lowerBound
            sizes.append(box.type == "ispe" ? (try header.big(start + 4, 4), try header.big(start + 8, 4)) : nil)
        }
        return sizes
    }

    /// The numbers of each item's properties; the first property has the number 1.
    private mutating func associations(in content: Range<Int>) throws(ImageStop) -> [Int: [Int]] {
        var associations: [Int: [Int]] = [:]
        let isWide = try header.octet(content.lowerBound + 3) & 1 == 1
        let itemLength = try header.octet(content.lowerBound) == 0 ? 2 : 4
        var place = content.lowerBound + 8
        for _ in 0..<(try header.big(content.lowerBound + 4, 4)) {
            let item = try header.big(place, itemLength)
            let count = try header.octet(place + itemLength)
            place += itemLength + 1
            for _ in 0..<count {
                try note()
                guard place < content.upperBound else { throw .malformed("the list of item properties is truncated") }
                associations[item, default: []].append(
                    isWide ? try header.big(place, 2) & 0x7FFF : try header.octet(place) & 0x7F)
                place += isWide ? 2 : 1
            }
            guard place <= content.upperBound else { throw .malformed("the list of item properties is truncated") }
        }
        return associations
    }

    private mutating func boxes(in content: Range<Int>) throws(ImageStop) -> [Box] {
        var boxes: [Box] = []
        var place = content.lowerBound
        while place < content.upperBound {
            boxes.append(try box(at: place, before: content.upperBound))
            place = boxes[boxes.count - 1].content.upperBound
        }
        return boxes
    }

    private mutating func box(at place: Int, before end: Int) throws(ImageStop) -> Box {
        try note()
        var length = try header.big(place, 4)
        var start = place + 8
        if length == 1 {
            let wide = try header.big(place + 8, 8)
            guard wide >= 16, wide < 1 << 40 else { throw .malformed("a box has the invalid length \(wide)") }
            length = wide
            start = place + 16
        }
        guard length >= start - place, length <= end - place else { throw .malformed("a box has the invalid length \(length)") }
        return Box(type: try header.text(place + 4, 4), content: start..<place + length)
    }

    private mutating func note() throws(ImageStop) {
        boxCount += 1
        if boxCount > Self.boxLimit { throw .malformed("the file has more than \(Self.boxLimit) boxes") }
    }
}
