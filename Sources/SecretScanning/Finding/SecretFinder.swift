import HTTPMessage
import HTTPSerialization

/// Secrets declared in a match file, which Larder cannot recognize by itself.
package struct DeclaredSecrets: Equatable, Sendable {
    /// Request and response fields whose values are secrets.
    package var fields: [String] = []
    package var parameters: [String] = []
    package var formFields: [String] = []
    /// Places in JSON bodies of requests and responses.
    package var pointers: [JSONPointer] = []
    /// Patterns in the syntax of `LinearPattern`: their matches in URIs, fields and bodies are secrets.
    package var patterns: [String] = []
    /// Names that look like names of secrets, but are harmless.
    package var harmless: [String] = []

    package init(pointers: [JSONPointer] = []) { self.pointers = pointers }

    /// The maximum number of patterns.
    package static let patternLimit = 32
}

/// Finds secrets in the parts of messages: by their form, by their names, and by the declarations in a match file.
package struct SecretFinder: Sendable {
    /// A finder without declared secrets.
    package static let undeclared = SecretFinder()

    private var declared: [SecretNames.Site: Set<[UInt8]>] = [:]
    private var harmless: Set<[UInt8]> = []
    private var patterns: [LinearPattern] = []
    private var patternWork = Self.patternWork

    /// The maximum number of steps of all patterns together in one text.
    static let patternWork = 256 << 20

    private init() {}

    /// - Throws: `malformed` for an invalid pattern, `tooLarge` for too many patterns.
    package init(_ secrets: DeclaredSecrets) throws(SecretScanningError) { try self.init(secrets, patternWork: Self.patternWork) }

    /// - Parameter patternWork: the maximum number of steps of all patterns together in one text.
    init(_ secrets: DeclaredSecrets, patternWork: Int) throws(SecretScanningError) {
        self.patternWork = patternWork
        func names(_ names: [String]) -> Set<[UInt8]> { Set(names.map { SecretNames.normalised($0.utf8) }) }
        declared = [.field: names(secrets.fields), .query: names(secrets.parameters), .form: names(secrets.formFields)]
        harmless = names(secrets.harmless)
        guard secrets.patterns.count <= DeclaredSecrets.patternLimit else { throw .tooLarge("secrets.patterns") }
        for pattern in secrets.patterns { patterns.append(try LinearPattern(pattern)) }
    }

    /// The result of searching a text.
    package struct Search {
        /// The secrets, in order and without overlaps.
        package let secrets: [FoundSecret]
        /// The position up to which the declared patterns were searched.
        let end: Int
        /// Whether the whole text was searched; `false` if the patterns took too many steps.
        package let isWhole: Bool
    }

    /// The secrets in a target URI. Any part after its origin that was not searched for the patterns is treated as a secret.
    package func secrets(inURI uri: [UInt8]) -> [FoundSecret] {
        allSecrets(in: uri, restFrom: SplitURI(uri).origin.count) { $0.searchURLs() }
    }

    /// The secrets in the searched part of a decoded body.
    package func secrets(inBody text: [UInt8], _ kind: MediaKind) -> [FoundSecret] { search(inBody: text, kind).secrets }

    /// Searches a decoded body, also if it is in UTF-16.
    package func search(inBody text: [UInt8], _ kind: MediaKind) -> Search {
        let search = search(inUTF8: text, kind)
        guard kind != .other, let unicode = UTF16Text(text) else { return search }
        // Bytes that are not text may begin like UTF-16, so both readings count.
        let inner = self.search(inUTF8: unicode.utf8, kind)
        return Search(
            secrets: unicode.inSource(inner.secrets).merged(with: search.secrets), end: search.end,
            isWhole: search.isWhole && inner.isWhole)
    }

    private func search(inUTF8 text: [UInt8], _ kind: MediaKind) -> Search {
        search(text) {
            $0.search(as: kind)
            // The pairs of a form are searched by `search(as:)`. This search also finds URLs within JSON strings, where they are plain
            // text.
            $0.searchURLs()
        }
    }

    /// The secrets in a field line's value. Any part that was not searched for the patterns is treated as a secret.
    package func secrets(of line: FieldLine, in fields: Fields) -> [FoundSecret] {
        let value = Array(fields.bytes[line.value.range])
        switch FieldSecrets.part(of: line, in: fields, evidence(Array(fields.bytes[line.name.range]), .field)) {
        case .secrets(let found): return found
        case .text:
            let found = allSecrets(in: value) {
                $0.searchURLs()
                $0.searchReference()
            }
            return FieldSecrets.credential(in: value).map { [$0].merged(with: found) } ?? found
        }
    }

    /// - Parameter floor: the unsearched rest begins at this position or later.
    private func allSecrets(
        in text: [UInt8], restFrom floor: Int = 0, _ structure: (inout StructuredSecrets) -> Void
    ) -> [FoundSecret] {
        let search = search(text, structure)
        if search.isWhole { return search.secrets }
        // If a secret extends beyond the position where the search ended, the unsearched rest begins with this secret.
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
    /// Merges two lists. Where secrets overlap, the secret of the first list is kept: the structure of a text is better evidence than
    /// the form of its bytes.
    func merged(with others: [FoundSecret]) -> [FoundSecret] {
        let first = inOrder.withoutOverlaps
        if others.isEmpty { return first }
        let second = others.inOrder
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

    /// Sorted by position. Of secrets that begin at the same position, the longest comes first.
    private var inOrder: [FoundSecret] {
        sorted { ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound) }
    }

    /// If secrets overlap, keeps the secret that begins first.
    private var withoutOverlaps: [FoundSecret] {
        var end = 0
        return filter { secret in
            guard secret.range.lowerBound >= end else { return false }
            end = secret.range.upperBound
            return true
        }
    }
}
