//! Room on the disks that hold the session folder and the build caches.

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;
use cp9_tools::machine;

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "disk";

const MIB: u64 = 1024 * 1024;
/// Below this, a build may run out of room.
const LOW: u64 = 2048 * MIB;
/// Below this, it will.
const FULL: u64 = 200 * MIB;

/// A file system and what cp9 has on it.
#[derive(Debug, Clone)]
pub(super) struct Room {
    paths: Vec<Utf8PathBuf>,
    free: u64,
}

/// Looks at them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Vec<Room>> {
    let session = context.folder.as_ref().map(|folder| folder.root.clone());
    let beside = || context.file.as_ref()?.parent().map(ToOwned::to_owned);
    let session = session.or_else(beside);
    let session = session.unwrap_or_else(|| context.engine.cwd.clone());
    let cache = context.dirs.as_ref().map(|dirs| dirs.cache.clone());
    let mut rooms: Vec<(u64, Room)> = Vec::new();
    for path in [Some(session), cache].into_iter().flatten() {
        let Some(disk) = machine::disk(&path) else {
            continue;
        };
        match rooms.iter_mut().find(|(device, _)| *device == disk.device) {
            Some((_, room)) => room.paths.push(path),
            None => rooms.push((
                disk.device,
                Room {
                    paths: vec![path],
                    free: disk.free,
                },
            )),
        }
    }
    if rooms.is_empty() {
        return Err("the system does not tell how much room there is".to_owned());
    }
    Ok(rooms.into_iter().map(|(_, room)| room).collect())
}

/// Judges them.
pub(super) fn judge(rooms: &[Room]) -> Vec<Finding> {
    rooms.iter().map(one).collect()
}

fn one(room: &Room) -> Finding {
    let paths: Vec<String> = room.paths.iter().map(|path| format!("`{path}`")).collect();
    let text = format!("{} free for {}", size(room.free), paths.join(" and "));
    let finding = match room.free {
        0..FULL => Finding::error(CHECK, "disk-full", format!("only {text}")),
        FULL..LOW => Finding::warning(CHECK, "disk-low", format!("only {text}")),
        _ => Finding::ok(CHECK, "disk", text),
    };
    let subject = room.paths.first().map(ToString::to_string);
    let finding = finding.about(subject.unwrap_or_default());
    match room.free {
        0..LOW => finding.remedy(format!("free at least {} there", size(LOW))),
        _ => finding,
    }
}

/// Bytes in the unit that people think in.
pub(super) fn size(bytes: u64) -> String {
    match bytes / MIB {
        mib @ 0..1024 => format!("{mib} MiB"),
        mib => format!("{}.{} GiB", mib / 1024, mib % 1024 * 10 / 1024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn low_is_a_warning_and_full_an_error() {
        for (free, id, severity) in [
            (0, "disk-full", Severity::Error),
            (FULL - 1, "disk-full", Severity::Error),
            (FULL, "disk-low", Severity::Warning),
            (LOW - 1, "disk-low", Severity::Warning),
            (LOW, "disk", Severity::Ok),
            (u64::MAX, "disk", Severity::Ok),
        ] {
            let room = Room {
                paths: vec!["/w".into(), "/h/.cache/cp9".into()],
                free,
            };
            let found = judge(&[room]).remove(0);
            assert_eq!(
                (found.id.as_str(), found.severity),
                (id, severity),
                "{free}"
            );
            assert_eq!(found.remedy.is_some(), severity != Severity::Ok);
        }
    }

    #[test]
    fn sizes_are_told_in_one_unit() {
        assert_eq!(size(0), "0 MiB");
        assert_eq!(size(199 * MIB + 1), "199 MiB");
        assert_eq!(size(2048 * MIB), "2.0 GiB");
        assert_eq!(size(2560 * MIB), "2.5 GiB");
    }
}
