import HTTPMessage
import HTTPSerialization

/// Secrets that nobody could know for such, as a match file declares them.
package struct DeclaredSecrets: Equatable, Sendable {
    /// Request and response fields whose values are secrets.
    package var fields: [String] = []
    package var parameters: [String] = []
    package var formFields: [String] = []
    /// Places of JSON bodies, in requests and responses.
    package var pointers: [JSONPointer] = []
    /// As `LinearPattern` reads them: what they find is a secret, in URIs, fields and bodies.
    package var patterns: [String] = []
    /// Names that indicate no secret, though they look as if they did.
    package var harmless: [String] = []

    package init(pointers: [JSONPointer] = []) { self.pointers = pointers }

    /// More patterns than these are refused.
    package static let patternLimit = 32
}

/// Finds secrets in the parts of messages: by their forms, by the names under which they stand, and by what a match file declares.
package struct SecretFinder: Sendable {
    /// Without anything declared.
    package static let undeclared = SecretFinder()

    private var declared: [SecretNames.Site: Set<[UInt8]>] = [:]
    private var harmless: Set<[UInt8]> = []
    private var patterns: [LinearPattern] = []
    private var patternWork = Self.patternWork

    /// Steps that all patterns may take in one text together.
    static let patternWork = 256 << 20

    private init() {}

    /// - Throws: `malformed` for a pattern that cannot be read, `tooLarge` for too many.
    package init(_ secrets: DeclaredSecrets) throws(SecretScanningError) { try self.init(secrets, patternWork: Self.patternWork) }

    /// - Parameter patternWork: steps that all patterns may take in one text together.
    init(_ secrets: DeclaredSecrets, patternWork: Int) throws(SecretScanningError) {
        self.patternWork = patternWork
        func names(_ names: [String]) -> Set<[UInt8]> { Set(names.map { SecretNames.normalised($0.utf8) }) }
        declared = [.field: names(secrets.fields), .query: names(secrets.parameters), .form: names(secrets.formFields)]
        harmless = names(secrets.harmless)
        guard secrets.patterns.count <= DeclaredSecrets.patternLimit else { throw .tooLarge("secrets.patterns") }
        for pattern in secrets.patterns { patterns.append(try LinearPattern(pattern)) }
    }

    /// What was found in a text.
    package struct Search {
        /// In order; none overlaps another.
        package let secrets: [FoundSecret]
        /// How far the declared patterns were looked for.
        let end: Int
        /// Not so where the patterns take too many steps.
        package let isWhole: Bool
    }

    /// Of a target URI. What is not searched for the patterns counts as a secret, but for its origin.
    package func secrets(inURI uri: [UInt8]) -> [FoundSecret] {
        allSecrets(in: uri, restFrom: SplitURI(uri).origin.count) { $0.searchURLs() }
    }

    /// Of a body out of its codings, as far as it is searched.
    package func secrets(inBody text: [UInt8], _ kind: MediaKind) -> [FoundSecret] { search(inBody: text, kind).secrets }

    /// Searches a body out of its codings.
    package func search(inBody text: [UInt8], _ kind: MediaKind) -> Search {
        search(text) {
            $0.search(as: kind)
            // The fields of a form are its own, and JSON finds the URLs in its strings: those are plain there too.
            $0.searchURLs()
        }
    }

    /// Of a field line's value. What is not searched for the patterns counts as a secret.
    package func secrets(of line: FieldLine, in fields: Fields) -> [FoundSecret] {
        let value = Array(fields.bytes[line.value.range])
        switch FieldSecrets.part(of: line, in: fields, evidence(Array(fields.bytes[line.name.range]), .field)) {
        case .secrets(let found): return found
        case .text:
            return allSecrets(in: value) {
                $0.searchURLs()
                $0.searchReference()
            }
        }
    }

    /// - Parameter floor: no rest that is not searched begins in front of it.
    private func allSecrets(
        in text: [UInt8], restFrom floor: Int = 0, _ structure: (inout StructuredSecrets) -> Void
    ) -> [FoundSecret] {
        let search = search(text, structure)
        if search.isWhole { return search.secrets }
        // A secret that begins before the end of the search and goes on behind it is of the rest.
        let beyond = search.secrets.first { $0.range.upperBound > search.end }
        let start = max(min(search.end, beyond?.range.lowerBound ?? search.end), floor)
        let rest = FoundSecret(range: start..<text.count, kind: .opaque, isPlaceholder: false, evidence: .password)
        return search.secrets.filter { $0.range.upperBound <= start } + (rest.range.isEmpty ? [] : [rest])
    }

    private func search(_ text: [UInt8], _ structure: (inout StructuredSecrets) -> Void) -> Search {
        let found = text.withUnsafeBufferPointer { octets in
            var structured = StructuredSecrets(octets, evidence)
            structure(&structured)
            return structured.found
        }
        var all = found.merged(with: SecretScan.secrets(in: text))
        var (work, searchedEnd) = (patternWork, text.count)
        for pattern in patterns {
            let (ranges, end) = pattern.ranges(in: text, work: &work)
            searchedEnd = min(searchedEnd, end)
            all = all.merged(
                with: ranges.map { FoundSecret(range: $0, kind: .opaque, isPlaceholder: false, evidence: .password) })
        }
        return Search(secrets: all, end: searchedEnd, isWhole: searchedEnd == text.count)
    }

    private func evidence(_ name: [UInt8], _ site: SecretNames.Site) -> SecretNames.Evidence? {
        if !declared.isEmpty || !harmless.isEmpty {
            let name = SecretNames.normalised(name)
            if declared[site]?.contains(name) ?? false { return .password }
            if harmless.contains(name) { return nil }
        }
        return SecretNames.evidence(name, at: site)
    }
}

extension Array<FoundSecret> {
    /// Both in order; where two overlap, that of the first, so that what structure says of a text goes before what its bytes look like.
    func merged(with others: [FoundSecret]) -> [FoundSecret] {
        let first = sorted { $0.range.lowerBound < $1.range.lowerBound }.withoutOverlaps
        if others.isEmpty { return first }
        let second = others.sorted { $0.range.lowerBound < $1.range.lowerBound }
        var result: [FoundSecret] = []
        result.reserveCapacity(first.count + second.count)
        var place = 0
        for secret in second {
            while place < first.count, first[place].range.upperBound <= secret.range.lowerBound {
                result.append(first[place])
                place += 1
            }
            if place < first.count, first[place].range.overlaps(secret.range) { continue }
            result.append(secret)
        }
        return (result + first[place...]).withoutOverlaps
    }

    /// Of those that overlap, the one that begins first.
    private var withoutOverlaps: [FoundSecret] {
        var end = 0
        return filter { secret in
            guard secret.range.lowerBound >= end else { return false }
            end = secret.range.upperBound
            return true
        }
    }
}
