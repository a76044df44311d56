SerializationBench.run(arguments: Array(CommandLine.arguments.dropFirst()))
