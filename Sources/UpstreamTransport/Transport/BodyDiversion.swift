/// Moves a body around this process: into a pipe, with at most `limit` bytes at once.
struct BodyDiversion {
    let pipe: Int32
    let limit: Int
}
