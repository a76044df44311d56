import ArgumentParser

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List, show, purge and verify stored responses.",
        discussion: """
            Uses the running Larder for these settings; if there is none, it reads the store's file. See docs/cache.md.

              larder cache ls --host '*.example.com' --stale
              larder cache purge 'http://example.com/simple/*'
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheCatCommand.self, CacheStatCommand.self, CachePurgeCommand.self,
            CacheVerifyCommand.self, CacheExportCommand.self,
        ])
}
