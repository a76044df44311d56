/// The pipe that a body is moved into without passing through this process's memory, and the maximum number of bytes to move at once.
struct BodyDiversion {
    let pipe: Int32
    let limit: Int
}
