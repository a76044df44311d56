import Glibc

/// The owner of a file, judging by its first page, which is read without SQLite: a user's file must not be renamed or written.
enum StoreFileMark: Equatable {
    /// There is no file, or an empty one.
    case absent
    /// A Larder database, possibly damaged.
    case ours
    /// A database; SQLite can tell which application owns it.
    case database
    case foreign

    private static let magic = Array("SQLite format 3\0".utf8)
    /// `application_id` (sqlite.org/fileformat.html §1.3).
    private static let application = 68..<72
    private static let pageLength = 8192

    init(ofFileAt path: String) {
        guard let page = Self.firstPage(of: path) else {
            self = .foreign
            return
        }
        self = page.isEmpty ? .absent : Self.mark(of: page)
    }

    /// A damaged header has lost at most one of the two marks: the application id, or SQLite's magic with the text of Larder's schema.
    private static func mark(of page: [UInt8]) -> StoreFileMark {
        let number = withUnsafeBytes(of: UInt32(Schema.applicationID).bigEndian) { Array($0) }
        if page.count >= application.upperBound, page[application].elementsEqual(number) { return .ours }
        guard page.starts(with: magic) else { return .foreign }
        return contains(page, Array(Schema.statements[0].utf8)) ? .ours : .database
    }

    private static func contains(_ page: [UInt8], _ text: [UInt8]) -> Bool {
        guard page.count >= text.count else { return false }
        return (0...(page.count - text.count)).contains { page[$0] == text[0] && page[$0..<$0 + text.count].elementsEqual(text) }
    }

    /// - Returns: empty if there is no file; `nil` if it cannot be read.
    private static func firstPage(of path: String) -> [UInt8]? {
        FileSystem.length(of: path) == nil ? [] : FileSystem.beginning(of: path, atMost: pageLength)
    }
}
