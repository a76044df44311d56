import ArgumentParser
import LarderSettings

/// Whether a command uses the settings of a project's folder.
struct ProjectOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Which settings of .larder/policy.yaml to use. auto: as you decided with `larder project`, else only the settings "
                + "that need no decision; allow: all settings, and the names that a recording declares as public; deny: no "
                + "settings.",
            valueName: "choice"))
    var projectSettings = ProjectChoice.auto
}

extension ProjectChoice: ExpressibleByArgument {}
