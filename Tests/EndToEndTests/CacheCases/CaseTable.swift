/// The tables of cases: requirements of RFC 9111, 5861, 8246, 9211 and 9213, and settings of rules.
enum CaseTable: CaseIterable {
    case freshness, storing, selecting, validating, updating, stale, invalidating, telling, targeted, ruled

    var cases: [CacheCase] {
        switch self {
        case .freshness: FreshnessCases.all
        case .storing: StoringCases.all
        case .selecting: SelectingCases.all
        case .validating: ValidatingCases.all
        case .updating: UpdatingCases.all
        case .stale: StaleCases.all
        case .invalidating: InvalidatingCases.all
        case .telling: TellingCases.all
        case .targeted: TargetedCases.all
        case .ruled: RuleCases.all
        }
    }

    var settings: String {
        switch self {
        case .targeted: TargetedCases.settings
        case .ruled: RuleCases.settings
        case .freshness, .storing, .selecting, .validating, .updating, .stale, .invalidating, .telling: ""
        }
    }
}
