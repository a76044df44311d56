import Foundation
import Testing

/// scripts/module-map.py draws the map. These tests read the sources a second time, by other means.
@Suite("docs/architecture-map.svg")
struct ModuleMapTests {
    /// A line of the map's metadata.
    private struct Row: Decodable {
        let module: String
        let layer: Int
        let files: Int
        let lines: Int
        let imports: Set<String>
        let shims: Set<String>
    }

    private static let rows: [Row] = {
        let lines = Repository.files(below: "docs/architecture-map.svg").flatMap(\.lines)
        return lines.filter { $0.hasPrefix("{\"module\"") }.compactMap {
            try? JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
    }()

    /// The C modules of Sources.
    private static let shims = Set(
        Repository.files(below: "Sources").filter { $0.path.hasSuffix("/module.modulemap") }.map(\.module))

    @Test("The map has the modules of Sources, and docs/architecture.md shows it")
    func hasEveryModule() {
        #expect(Self.rows.map(\.module).sorted() == Repository.modules, "make map draws it again")
        let page = Repository.files(below: "docs/architecture.md").flatMap(\.lines)
        #expect(page.contains { $0.contains("(architecture-map.svg)") })
    }

    @Test("Each module has its imports, the layer above them, and about its size", arguments: rows.map(\.module))
    func isUpToDate(module: String) throws {
        let row = try #require(Self.rows.first { $0.module == module })
        let files = Repository.sources.filter { $0.module == module }
        let imported = Set(files.flatMap(\.code).compactMap { ImportTests.importLine($0.text)?.module })
        let ours = imported.intersection(Repository.modules).subtracting([module])
        #expect(row.imports == ours, "make map draws it again")
        #expect(row.shims == imported.intersection(Self.shims), "make map draws it again")
        let highest = Self.rows.filter { ours.contains($0.module) }.map(\.layer).max() ?? -1
        #expect(row.layer == highest + 1)
        // The text after the last line end is no line.
        let lineCount = files.reduce(0) { $0 + $1.lines.count - ($1.lines.last?.isEmpty == true ? 1 : 0) }
        #expect(abs(row.lines - lineCount) <= max(200, lineCount / 10), "make map draws it again")
        #expect(abs(row.files - files.count) <= max(2, files.count / 10), "make map draws it again")
    }
}
