import HTTPMessage
import HTTPSerialization

extension NearMiss {
    /// For the log and for people: a line for the recording, one for each difference, and the canonicaliser that can be pasted.
    package var text: String {
        var lines = [String(decoding: method + [ASCII.space] + uri, as: UTF8.self)]
        for difference in differences {
            lines.append(
                "  \(difference.name): recorded \(difference.recorded ?? "nothing"), requested \(difference.offered ?? "nothing")"
            )
        }
        if let canonicaliser {
            lines.append("  canonicaliser: \(canonicaliser.json)")
            if equalled > 0 { lines.append("  this canonicaliser would make \(equalled) recordings equal that now differ") }
        } else if equalled > 0 {
            lines.append("  no canonicaliser proposed: one for this path would make \(equalled) recordings equal that now differ")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// As a member of the 504's body.
    package var json: JSONValue {
        func value(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        let different = differences.map { difference -> JSONValue in
            ["place": .string(difference.name), "recorded": value(difference.recorded), "asked": value(difference.offered)]
        }
        return [
            "method": .string(String(decoding: method, as: UTF8.self)), "url": .string(String(decoding: uri, as: UTF8.self)),
            "generation": .number(JSONNumber(generation)), "differences": .array(different),
            "canonicaliser": canonicaliser?.json ?? .null, "made_equal": .number(JSONNumber(equalled)),
        ]
    }
}
