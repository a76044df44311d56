extension ValueForm where Value == LarderSettings.AdminSocketPlace {
    static let adminSocket = ValueForm(
        about: "a path, `auto` (`$XDG_RUNTIME_DIR/larder/admin-PORT.sock`, else `/run/larder/admin-PORT.sock` for root, else "
            + "`$XDG_STATE_HOME/larder/admin-PORT.sock`, where PORT is the first listener's), or `off` (no socket)",
        schema: ValueForm<String>.path.schema,
        read: { cursor, problems in
            ValueForm<String>.path.read(cursor, &problems).map { text in
                switch text {
                case "auto": .auto
                case "off": .off
                default: .path(text)
                }
            }
        },
        show: { place in
            switch place {
            case .auto: .plain("auto")
            case .off: .plain("off")
            case .path(let path): .text(path)
            }
        })
}
