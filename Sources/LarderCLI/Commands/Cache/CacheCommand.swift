import ArgumentParser

struct CacheCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "List, show, purge, verify and export stored responses.",
        discussion: """
            These commands query the running Larder. If Larder is not running, they read the store's file. See docs/cache.md.

              larder cache ls --host '*.example.com' --stale
              larder cache purge 'http://example.com/simple/*'
            """,
        subcommands: [
            CacheListCommand.self, CacheShowCommand.self, CacheCatCommand.self, CacheStatCommand.self, CachePurgeCommand.self,
            CacheVerifyCommand.self, CacheExportCommand.self,
        ])
}
