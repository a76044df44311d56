import ArgumentParser
import LarderSettings

/// The option that says whether a command uses the settings of a project's folder.
struct ProjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use the settings in .larder/policy.yaml: auto, as `larder project` decided, else as far as they need no decision; allow, all of them; deny, none.",
            valueName: "choice"))
    var projectSettings = ProjectChoice.auto
}

extension ProjectChoice: ExpressibleByArgument {}
