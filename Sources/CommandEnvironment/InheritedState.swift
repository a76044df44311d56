/// The state that this process inherited and passes on to its child, as if the child had been started directly. Must be made before this
/// process changes that state.
package struct InheritedState {
    let text = InheritedText()
    let limits = InheritedLimits()
    let descriptors = InheritedDescriptors()
    package let signals = InheritedSignals()

    package init() {}
}
