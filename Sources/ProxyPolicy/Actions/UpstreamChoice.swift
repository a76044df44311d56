/// The value of `upstream` in a rule: the way on which Larder sends the requests, by the way's name.
package struct UpstreamChoice: Equatable, Sendable {
    package let name: String
    /// Whether a parent may verify the origin, although Larder itself would otherwise do so.
    package let isVerifiedByParent: Bool
    /// Where the settings have the name.
    package let place: SettingsPlace

    package init(name: String, isVerifiedByParent: Bool = false, place: SettingsPlace = .none) {
        self.name = name
        self.isVerifiedByParent = isVerifiedByParent
        self.place = place
    }

    /// Reads `NAME` or `{name: NAME, parent_verifies: true}`.
    init?(parsing cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard case .mapping = cursor.node.value else {
            guard let name = cursor.text(problems: &problems) else { return nil }
            self.init(name: name, place: cursor.node.place)
            return
        }
        guard let mapping = cursor.mapping(of: ["name", "parent_verifies"], problems: &problems) else { return nil }
        let verifies = mapping["parent_verifies"].map { $0.boolean(problems: &problems) ?? false } ?? false
        guard let written = mapping.required("name", problems: &problems), let name = written.text(problems: &problems) else {
            return nil
        }
        self.init(name: name, isVerifiedByParent: verifies, place: written.node.place)
    }
}
