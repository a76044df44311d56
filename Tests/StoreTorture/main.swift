StoreTorture.run(arguments: Array(CommandLine.arguments.dropFirst()))
