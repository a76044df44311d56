/// What this process was begun with, and its child is to have as if it had been begun in its place. Made first of all.
package struct InheritedState {
    let text = InheritedText()
    let limits = InheritedLimits()
    let descriptors = InheritedDescriptors()
    package let signals = InheritedSignals()

    package init() {}
}
