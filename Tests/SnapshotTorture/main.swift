SnapshotTorture.run(arguments: Array(CommandLine.arguments.dropFirst()))
