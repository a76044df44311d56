import HTTPMessage
import HTTPSerialization

extension FuzzTarget {
    /// A JSON text: what the checker of streams accepts is read, and the first fault is the same; what is read is written and read the same; nulls
    /// that are left out while it is read are those that are taken out afterwards.
    package static let jsonValue = FuzzTarget("JSONValue") { octets in
        let expected = fault(octets)
        let value: JSONValue
        do throws(JSONParseError) {
            value = try JSONValue(parsing: octets, options: JSONParseOptions(depthLimit: depthLimit))
        } catch {
            // Half of a pair is for the checker's reader to judge, and no bytes and one space are nothing to it.
            if error.reason == .halfPair || octets.isEmpty || octets == [0x20] { return nil }
            guard let expected else { return "refused, and the checker accepts it" }
            let isSame = "\(expected.reason.word)" == error.reason.rawValue && expected.offset == UInt64(error.offset)
            return isSame ? nil : "the checker finds another fault"
        }
        if expected != nil { return "accepted, and the checker refuses it" }
        let text = value.text()
        if (try? JSONValue(parsing: text)) != value { return "written, it is another" }
        let escaped = value.text(JSONWriteOptions(isIndented: true, escapesSlashes: true, escapesNonASCII: true))
        if escaped.contains(where: { $0 >= 0x80 }) || (try? JSONValue(parsing: escaped)) != value {
            return "escaped, it is another"
        }
        for removal in [NullRemoval.members, .everywhere] {
            let options = JSONParseOptions(removesNulls: removal, depthLimit: depthLimit)
            if (try? JSONValue(parsing: octets, options: options)) != value.removingNulls(removal) { return "other nulls" }
        }
        return nil
    }

    private static let depthLimit = 12

    private static func fault(_ octets: [UInt8]) -> JSONFault? {
        var checker = JSONChecker(depthLimit: depthLimit)
        do throws(JSONFault) {
            try checker.consume(octets.span)
            try checker.finish()
            return nil
        } catch {
            return error
        }
    }
}
