WireBench.run(arguments: Array(CommandLine.arguments.dropFirst()))
