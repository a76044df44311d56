import TextCoding

/// One outcome as JSON, for programs: a line of standard output.
package enum FetchReport {
    package static func line(_ ending: FetchAll.Ending) -> String {
        var members: [(String, JSONText)] = [("url", .string(ending.item.uri.description))]
        switch ending.result {
        case .success(let file):
            members += [
                ("file", .string(file.path)), ("length", .count(file.length)), ("kept", .count(file.keptLength)),
                ("from_store", .bool(file.isFromStore)), ("was_there", .bool(file.wasThere)),
                ("digest", file.digests.first.map { .string(FileDigest.text($0)) } ?? .null),
            ]
        case .failure(let failure):
            members += [
                ("error", .string(failure.kind.rawValue)), ("code", .string(failure.code)), ("detail", .string(failure.sentence)),
                ("kept", .count(ending.keptLength)),
            ]
        }
        let (seconds, attoseconds) = ending.time.components
        members.append(("milliseconds", .number(Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000))))
        return JSONText.object(members).writtenInLine()
    }
}
