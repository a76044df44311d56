import HTTPMessage

/// One file of the page.
struct PageFile: Sendable {
    let path: String
    let contentType: StaticString
    let text: StaticString

    var route: AdminRoute {
        let file = self
        return AdminRoute(.get, path, .read) { _, exchange in
            exchange.answer(contentType: file.contentType, body: file.text.withUTF8Buffer { Array($0) })
        }
    }
}

/// The files of the page. scripts/page-files.py writes their texts from the folder Files.
enum PageFiles {
    static var routes: [AdminRoute] { all.map(\.route) }
}
