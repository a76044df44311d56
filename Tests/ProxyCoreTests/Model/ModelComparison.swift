@testable import ProxyCore

/// Runs a history through a cache of Larder and the model, and finds the first difference.
struct ModelComparison {
    struct Difference {
        let index: Int
        let text: String
    }

    /// Makes the cache that is compared.
    let cache: () -> any DrivenCache

    /// The first step at which no set of choices leads to the exchange's result.
    ///
    /// Two sets can have the same result and differ in their state, so all that match are followed.
    func difference(in steps: [ModelStep]) -> Difference? {
        let cache = cache()
        var models = [CacheModel()]
        for (index, step) in steps.enumerated() {
            let real: ModelOutcome
            do { real = try cache.run(step) } catch { return Difference(index: index, text: "  \(error)") }
            let ways = Self.ways(step, from: models)
            var following: [CacheModel] = []
            for way in ways where way.outcome == real && !following.contains(way.after) { following.append(way.after) }
            if following.isEmpty { return Difference(index: index, text: Self.text(real, ways)) }
            models = following
        }
        return nil
    }

    private struct Way {
        let outcome: ModelOutcome
        let after: CacheModel
        let said: [ModelChoice]
    }

    private static func ways(_ step: ModelStep, from models: [CacheModel]) -> [Way] {
        var ways: [Way] = []
        for model in models {
            var choices: ModelChoices? = ModelChoices()
            while var way = choices {
                var after = model
                let outcome = after.exchange(step, &way)
                ways.append(Way(outcome: outcome, after: after, said: way.taken.filter { $0.answer }.map { $0.choice }))
                choices = way.next
            }
        }
        return ways
    }

    /// Removes earlier steps, unneeded responses, and lines, as long as a difference remains.
    func shortened(_ steps: [ModelStep]) -> [ModelStep] {
        var steps = steps
        for index in steps.indices.dropLast().reversed() where index < steps.count - 1 {
            attempt(&steps) { $0.remove(at: index) }
        }
        for index in steps.indices {
            while attempt(&steps, { if $0[index].answers.count > 1 { $0[index].answers.removeLast() } }) {}
            let step = steps[index]
            for line in step.request.fields.lines.indices.reversed() {
                attempt(&steps) { $0[index].request.fields.lines.remove(at: line) }
            }
            for answer in step.answers.indices {
                for (line, field) in step.answers[answer].response.fields.lines.enumerated().reversed()
                where !["x-body", "content-length"].contains(field.name) {
                    attempt(&steps) { $0[index].answers[answer].response.fields.lines.remove(at: line) }
                }
                for line in step.answers[answer].notModified.lines.indices.reversed() {
                    attempt(&steps) { $0[index].answers[answer].notModified.lines.remove(at: line) }
                }
            }
        }
        return steps
    }

    /// - Returns: whether it made the history shorter, with a difference remaining in its last step.
    @discardableResult
    private func attempt(_ steps: inout [ModelStep], _ change: (inout [ModelStep]) -> Void) -> Bool {
        var fewer = steps
        change(&fewer)
        guard size(fewer) < size(steps), difference(in: fewer)?.index == fewer.count - 1 else { return false }
        steps = fewer
        return true
    }

    private func size(_ steps: [ModelStep]) -> Int {
        steps.reduce(steps.count) { sum, step in
            step.answers.reduce(sum + step.request.fields.lines.count) { sum, answer in
                sum + 1 + answer.response.fields.lines.count + answer.notModified.lines.count
            }
        }
    }

    // MARK: Reports

    private static func text(_ real: ModelOutcome, _ ways: [Way]) -> String {
        var seen: Set<ModelOutcome> = []
        let told = ways.filter { seen.insert($0.outcome).inserted }.map { way in
            "  model \(way.said.map { $0.rawValue }):\n    \(way.outcome)"
        }
        return (["  Larder:\n    \(real)"] + told).joined(separator: "\n")
    }

    func text(_ steps: [ModelStep]) -> String {
        steps.map { step in
            let request = step.request
            let time = step.time - ModelHistory.epoch
            let answers = step.answers.map { answer in
                """
                    origin \(answer.behaviour) after \(answer.delay) s: \(answer.response.status) \(answer.response.fields.text)
                      or 304 \(answer.notModified.text)
                """
            }
            return (["  \(time) s: \(request.method) \(request.url) \(request.fields.text)"] + answers).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
