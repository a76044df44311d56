PolicyBench.run(arguments: Array(CommandLine.arguments.dropFirst()))
