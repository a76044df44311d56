/// Settings together with their sources, so that they can be reloaded.
package struct LoadedSettings {
    package let settings: LarderSettings
    package let file: String?
    package let sources: SettingsSources
    /// The names of files that were read but set nothing.
    package var emptyFiles: [String]
    /// Messages about possible mistakes in the files.
    package var remarks: [String]
    /// The source of each setting that a source sets: a file, an environment variable or an option.
    package var origins: [String: String]

    package init(
        settings: LarderSettings, file: String?, sources: SettingsSources, emptyFiles: [String] = [], remarks: [String] = [],
        origins: [String: String] = [:]
    ) {
        self.settings = settings
        self.file = file
        self.sources = sources
        self.emptyFiles = emptyFiles
        self.remarks = remarks
        self.origins = origins
    }
}
