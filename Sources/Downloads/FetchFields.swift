import CommandSupport
import Foundation
import LarderHTTP
import TextCoding

/// The fields that `-H` adds to requests. Messages never contain their values.
package enum FetchFields {
    static let fileLengthLimit = 64 * 1024

    /// Users cannot set the fields that select bytes or frame messages.
    private static let own: Set = [
        "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "connection",
        "content-length",
        "transfer-encoding", "te", "trailer", "upgrade", "host", "expect", "proxy-authorization", "proxy-connection",
        "keep-alive",
    ]

    package static func read(_ arguments: [String]) throws(FetchFailure) -> SessionFields {
        var fields = SessionFields()
        for argument in arguments {
            if argument.hasPrefix("@") {
                for line in try lines(of: String(argument.dropFirst())) { try add(line, to: &fields) }
            } else {
                try add(argument, to: &fields)
            }
        }
        return fields
    }

    private static func lines(of path: String) throws(FetchFailure) -> [String] {
        do throws(LocalFile.Unreadable) {
            let octets = try LocalFile.bytes(at: path, atMost: fileLengthLimit, mayBePipe: true)
            return String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        } catch {
            throw FetchFailure(.usage, "bad_field", "cannot read \(printable(path, limit: 4096)): \(error.reason)")
        }
    }

    private static func add(_ line: String, to fields: inout SessionFields) throws(FetchFailure) {
        guard let colon = line.firstIndex(of: ":") else { throw FetchFailure(.usage, "bad_field", "-H takes \"Name: value\"") }
        let name = String(line[..<colon])
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        let isToken = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        guard isToken, !value.unicodeScalars.contains(where: \.isControl) else {
            throw FetchFailure(.usage, "bad_field", "-H has an invalid field name: '\(printable(name))'")
        }
        guard !own.contains(name.lowercased()) else {
            throw FetchFailure(.usage, "bad_field", "-H cannot set \(name)")
        }
        fields.append(name, value)
    }
}
