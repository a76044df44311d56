import ArgumentParser

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Lists, shows, purges and verifies what is stored.",
        discussion: """
            Asks the Larder that runs with these settings; where none runs, the store's file is read as it stands. See docs/cache.md.

              larder cache ls --host '*.example.com' --stale
              larder cache purge 'http://example.com/simple/*'
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheCatCommand.self, CacheStatCommand.self, CachePurgeCommand.self,
            CacheVerifyCommand.self, CacheExportCommand.self,
        ])
}
