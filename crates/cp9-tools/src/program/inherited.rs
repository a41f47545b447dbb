//! Open files that this process got from the one that started it.

/// The first descriptor after standard input, output and error.
const FIRST: i32 = 3;

/// Keeps what this process inherited from its children: a controller or a service that held the pipe of a
/// caller's caller would keep its reader waiting for as long as the session lives. To be called before
/// anything else runs.
pub fn keep_inherited_files() {
    close_fds::set_fds_cloexec(FIRST, &[]);
}
