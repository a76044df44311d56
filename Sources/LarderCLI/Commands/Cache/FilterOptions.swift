import ArgumentParser
import CommandSupport
import ProxyPolicy
import ResponseStore
import TextCoding

/// Selects stored responses: all given conditions must hold.
struct FilterWords: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only responses from this host, with or without a port. * matches any characters.", valueName: "pattern"))
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Only responses with these status codes: 404, 200-299, 5xx, or several, separated by commas.", valueName: "codes"))
    var status: String?

    @Option(help: ArgumentHelp("Only responses with this media type, such as text/html, image/* or */*+json.", valueName: "type"))
    var type: String?

    @Option(
        help: ArgumentHelp(
            "Only responses older than this, such as 12h. The age is the time since the origin generated the response.",
            valueName: "time")
    )
    var olderThan: String?

    @Option(help: ArgumentHelp("Only responses younger than this, such as 12h.", valueName: "time"))
    var youngerThan: String?

    @Flag(help: "Only responses that are fresh by the origin's Cache-Control or Expires.")
    var fresh = false

    @Flag(help: "Only responses that are stale by the origin's Cache-Control or Expires.")
    var stale = false

    @Option(
        help: ArgumentHelp(
            "Only responses to which a rule gave this tag. Repeatable: a response must have all given tags.", valueName: "name"))
    var tag: [String] = []

    @Option(help: ArgumentHelp("Only responses with content larger than this, such as 10MiB.", valueName: "size"))
    var largerThan: String?

    @Option(help: ArgumentHelp("Only responses with content smaller than this.", valueName: "size"))
    var smallerThan: String?

    func validate() throws {
        if fresh, stale { throw ValidationError("Give --fresh or --stale, not both.") }
    }

    /// - Throws: exit code 2, after reporting the invalid value.
    func value() throws -> StoreFilter { try value(url: nil) }

    fileprivate func value(url: String?) throws -> StoreFilter {
        var filter = StoreFilter()
        func set(_ word: StoreFilter.Word, _ text: String?, as form: (String) -> String? = { $0 }) throws {
            guard let text else { return }
            if let words = form(text), filter.set(word, to: words) { return }
            Terminal.talk("larder: \(word.rawValue): invalid value `\(printable(text))`\n")
            throw ExitCode(2)
        }
        func seconds(_ text: String) -> String? { SettingsQuantity.milliseconds(text).map { "\($0 / 1000)" } }
        func bytes(_ text: String) -> String? { SettingsQuantity.byteCount(text).map { "\($0)" } }
        try set(.url, url)
        try set(.host, host)
        try set(.status, status)
        try set(.type, type)
        try set(.olderThan, olderThan, as: seconds)
        try set(.youngerThan, youngerThan, as: seconds)
        if fresh || stale { try set(.freshness, fresh ? "fresh" : "stale") }
        for tag in tag { try set(.tag, tag) }
        try set(.largerThan, largerThan, as: bytes)
        try set(.smallerThan, smallerThan, as: bytes)
        return filter
    }
}

/// The conditions of `FilterWords`, preceded by a URL.
struct FilterOptions: ParsableArguments {
    @Argument(help: "URL; * matches any characters. The default is all URLs.")
    var url: String?

    @OptionGroup var words: FilterWords

    func value() throws -> StoreFilter { try words.value(url: url) }
}

extension StoreFilter {
    var parameters: [(String, String)] { words.map { ($0.word.rawValue, $0.text) } }
}
