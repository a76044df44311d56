/// A way for a body past this process: a pipe's write end, and how much it is given at once.
struct BodyDiversion {
    let pipe: Int32
    let limit: Int
}
