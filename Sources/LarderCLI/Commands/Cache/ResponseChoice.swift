import ArgumentParser
import CommandSupport
import HTTPCaching
import ProxyAdmin
import ResponseStore
import TextCoding

/// Selects the stored response that a subcommand shows.
struct ResponseChoice: ParsableArguments {
    @Argument(help: "The response's URL.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The row number of the response. larder cache ls -o ndjson prints the row numbers.", valueName: "number"))
    var row: Int64?

    func validate() throws {
        if (url == nil) == (row == nil) { throw ValidationError("Give a URL or a row.") }
        if let url, URLPattern(url)?.isExact != true { throw ValidationError("`\(printable(url))` must be a single URL.") }
    }

    var parameters: [(String, String)] { row.map { [("row", "\($0)")] } ?? [("url", url ?? "")] }

    /// - Throws: exit code 1, after reporting that no such response is stored.
    func find(in file: StoreFileAccess) throws -> [FoundResponse] {
        let place = row.map { CacheSource.Place.row($0) } ?? url.flatMap { URLPattern($0) }.map { .url($0) }
        guard let place, let found = file.find(place), !found.isEmpty else {
            Terminal.talk("larder: no such response is stored\n")
            throw ExitCode.failure
        }
        return found
    }
}
