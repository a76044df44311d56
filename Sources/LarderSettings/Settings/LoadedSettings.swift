/// Settings together with where they came from, so that they can be read again.
package struct LoadedSettings {
    package let settings: LarderSettings
    package let file: String?
    package let sources: SettingsSources
    /// The files that were read and set nothing.
    package var emptyFiles: [String]
    /// What in the files may be a mistake.
    package var remarks: [String]

    package init(
        settings: LarderSettings, file: String?, sources: SettingsSources, emptyFiles: [String] = [], remarks: [String] = []
    ) {
        self.settings = settings
        self.file = file
        self.sources = sources
        self.emptyFiles = emptyFiles
        self.remarks = remarks
    }
}
