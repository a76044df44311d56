import CommandSupport
import Foundation
import HTTPSerialization
import LarderHTTP
import TextCoding

/// URLs from a file: one per line, optionally followed by its digest and its file name.
///
///     https://example.com/a.iso
///     https://example.com/b.iso sha256:9f86…
///     https://example.com/latest out=c.iso     # a note
package enum FetchList {
    /// The place of the word that determines the file's name: the name, or the URL itself.
    struct Place: Sendable {
        var list = ""
        var line = 1
        let column: Int
    }

    /// The longest line, in bytes, and the most lines with a URL.
    static let lineLengthLimit = TargetURI.lengthLimit + 1024
    static let itemLimit = 100_000

    /// - Parameter path: `-` is standard input.
    /// - Throws: an error for the first invalid line, with its number.
    package static func read(_ path: String) throws(FetchFailure) -> [FetchItem] {
        let shown = path == "-" ? "standard input" : printable(path, limit: 4096)
        var reader: LineReader
        do throws(LocalFile.Unreadable) { reader = try LineReader(path: path, limit: lineLengthLimit) } catch {
            throw FetchFailure(.usage, "bad_list", "cannot read \(shown): \(error.reason)")
        }
        var items: [FetchItem] = []
        var number = 0
        while true {
            let line: LineReader.Line?
            do { line = try reader.next() } catch { throw FetchFailure(.usage, "bad_list", "cannot read \(shown)") }
            guard let line else { return items }
            number += 1
            do throws(FetchFailure) {
                guard case .whole(let octets) = line else { throw FetchFailure(.usage, "bad_list", "the line is too long") }
                // Some editors write U+FEFF at the start of a file.
                let hasMark = number == 1 && octets.starts(with: [0xEF, 0xBB, 0xBF])
                let text = octets.dropFirst(hasMark ? 3 : 0)
                if var item = try item(String(decoding: text, as: UTF8.self)) {
                    item.place?.list = shown
                    item.place?.line = number
                    items.append(item)
                }
                if items.count > itemLimit { throw FetchFailure(.usage, "bad_list", "the list has more than \(itemLimit) URLs") }
            } catch {
                throw FetchFailure(.usage, error.code, "\(shown):\(number): \(error.sentence)")
            }
        }
    }

    /// - Returns: `nil` for a line without a URL.
    static func item(_ line: String) throws(FetchFailure) -> FetchItem? {
        var words = line.split(whereSeparator: \.isWhitespace)
        if let note = words.firstIndex(where: { $0.hasPrefix("#") }) { words.removeSubrange(note...) }
        guard let url = words.first else { return nil }
        var item = try FetchItem(String(url))
        item.place = place(of: url, in: line)
        for word in words.dropFirst() {
            if word.hasPrefix("out=") {
                if item.name != nil { throw FetchFailure(.usage, "bad_list", "the line gives two names (out=…)") }
                item.name = try fileName(String(word.dropFirst(4)))
                item.place = place(of: word, in: line)
            } else if FileDigest.isMeant(String(word)) {
                if item.digest != nil { throw FetchFailure(.usage, "bad_list", "the line gives two digests") }
                item.digest = try FileDigest.read(String(word))
            } else {
                throw FetchFailure(
                    .usage, "bad_list", "'\(printable(String(word)))' is neither a digest (sha256:…, sha512:…) nor a name (out=…)"
                )
            }
        }
        return item
    }

    private static func place(of word: Substring, in line: String) -> Place {
        Place(column: line.distance(from: line.startIndex, to: word.startIndex) + 1)
    }

    /// A list may come from another user. It may therefore name only files in the output folder, not other paths.
    private static func fileName(_ name: String) throws(FetchFailure) -> String {
        guard SuggestedName.isSafe(name) else {
            throw FetchFailure(.usage, "bad_list", "'\(printable(name))' is not a plain file name")
        }
        return name
    }
}
