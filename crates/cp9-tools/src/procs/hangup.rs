//! Whether a closed terminal means anything to this process.

/// What the system tells of this process, where it does.
const STATUS: &str = "/proc/self/status";

/// True if this process was started with SIGHUP ignored, as `nohup` does. A handler of ours would undo
/// that.
pub fn ignores_hangup() -> bool {
    std::fs::read_to_string(STATUS).is_ok_and(|status| ignored(&status))
}

/// The first bit of the mask of ignored signals (proc(5): `SigIgn`).
fn ignored(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_read() {
        assert!(ignored("Name:\tx\nSigIgn:\t0000000000001001\n"));
        assert!(!ignored("Name:\tx\nSigIgn:\t0000000000001000\n"));
        assert!(!ignored("SigIgn:\tx") && !ignored(""));
    }
}
