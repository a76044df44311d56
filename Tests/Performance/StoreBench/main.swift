StoreBench.run(arguments: Array(CommandLine.arguments.dropFirst()))
