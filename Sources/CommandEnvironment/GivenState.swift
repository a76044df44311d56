/// What this process was begun with, and its child is to have as if it had been begun in its place. Made first of all.
package struct GivenState {
    let text = GivenText()
    let limits = GivenLimits()
    let descriptors = GivenDescriptors()
    package let signals = GivenSignals()

    package init() {}
}
