import ArgumentParser
import LarderSettings

/// Whether a command uses the settings of a project's folder.
struct ProjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Which settings of .larder/policy.yaml to use. auto: as you decided with `larder project`, else only settings that need no decision; allow: all; deny: none.",
            valueName: "choice"))
    var projectSettings = ProjectChoice.auto
}

extension ProjectChoice: ExpressibleByArgument {}
