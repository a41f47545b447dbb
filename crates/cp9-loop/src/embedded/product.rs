//! Whether what a build wrote can be a product at all: a linker that was killed or a disk that ran full
//! leaves files that must not replace a program that works.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

use camino::Utf8Path;

/// Length of the header of a 64-bit ELF file.
const HEADER: usize = 64;
/// The magic number, the class for 64 bits and the mark of little-endian numbers.
const ELF64_LE: &[u8] = b"\x7fELF\x02\x01";

/// What is wrong with a product, if anything; `executed` says that it is started itself.
pub(super) fn fault(path: &Utf8Path, executed: bool) -> Option<String> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    let facts = file.metadata().ok()?;
    let limit = u64::try_from(HEADER).ok()?;
    file.take(limit).read_to_end(&mut head).ok()?;
    let started = || {
        executed
            .then(|| judge_program(&head, facts.mode()))
            .flatten()
    };
    judge(&head, facts.len())
        .or_else(started)
        .map(|what| format!("the build wrote a product that is {what}"))
}

/// What no system starts: a file that its writer did not mark as a program, or text that does not name
/// its interpreter.
fn judge_program(head: &[u8], mode: u32) -> Option<&'static str> {
    let text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if mode & 0o111 == 0 {
        return Some("not executable");
    }
    (!head.starts_with(b"#!") && head.iter().all(text)).then_some("text without a `#!` line")
}

/// The section headers stand at the end of what linkers write, so that a file which ends before them was
/// cut short.
fn judge(head: &[u8], length: u64) -> Option<&'static str> {
    if length == 0 {
        return Some("empty");
    }
    if !head.starts_with(ELF64_LE) {
        return None;
    }
    let Some(end) = end_of_sections(head) else {
        return Some("cut short");
    };
    (end > length).then_some("cut short")
}

/// Where the table of section headers ends (System V ABI: `e_shoff`, `e_shentsize`, `e_shnum`).
fn end_of_sections(head: &[u8]) -> Option<u64> {
    let offset = u64::from_le_bytes(head.get(0x28..0x30)?.try_into().ok()?);
    let size = u16::from_le_bytes(head.get(0x3a..0x3c)?.try_into().ok()?);
    let count = u16::from_le_bytes(head.get(0x3c..0x3e)?.try_into().ok()?);
    offset.checked_add(u64::from(size) * u64::from(count))
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "tests make the files that they judge"
)]
mod tests {
    use super::*;

    fn elf(offset: u64, size: u16, count: u16) -> Vec<u8> {
        let mut head = vec![0; HEADER];
        head[..ELF64_LE.len()].copy_from_slice(ELF64_LE);
        head[0x28..0x30].copy_from_slice(&offset.to_le_bytes());
        head[0x3a..0x3c].copy_from_slice(&size.to_le_bytes());
        head[0x3c..0x3e].copy_from_slice(&count.to_le_bytes());
        head
    }

    #[test]
    fn empty_and_cut_products_are_told() {
        assert_eq!(judge(&[], 0), Some("empty"));
        assert_eq!(judge(b"#!/bin/sh\n", 10), None);
        assert_eq!(
            judge(b"PK\x03\x04", 900),
            None,
            "an archive is none of ours to judge"
        );
        assert_eq!(judge(&elf(1000, 64, 10), 1640), None);
        assert_eq!(judge(&elf(1000, 64, 10), 1639), Some("cut short"));
        assert_eq!(judge(&elf(0, 0, 0), 100), None, "stripped of its sections");
        assert_eq!(judge(&elf(1000, 64, 10)[..30], 30), Some("cut short"));
        assert_eq!(judge(&elf(u64::MAX, 64, 10), 5000), Some("cut short"));
    }

    #[test]
    fn what_no_system_starts_is_told() {
        assert_eq!(judge_program(b"#!/bin/sh\n", 0o100_755), None);
        assert_eq!(judge_program(&elf(1000, 64, 10), 0o100_744), None);
        assert_eq!(judge_program(b"MZ\x90\0", 0o100_755), None, "of others");
        assert_eq!(
            judge_program(&elf(1000, 64, 10), 0o100_644),
            Some("not executable")
        );
        assert_eq!(
            judge_program(b"<html>\n", 0o100_755),
            Some("text without a `#!` line")
        );
    }

    #[test]
    fn this_very_program_is_whole_and_half_of_it_is_not() {
        let exe = std::env::current_exe().expect("this program");
        let exe = camino::Utf8PathBuf::from_path_buf(exe).expect("utf-8");
        assert_eq!(fault(&exe, true), None);
        let dir = tempfile::tempdir().expect("a folder");
        let half = camino::Utf8PathBuf::from_path_buf(dir.path().join("half")).expect("utf-8");
        let bytes = std::fs::read(&exe).expect("read");
        std::fs::write(&half, &bytes[..bytes.len() / 2]).expect("written");
        assert_eq!(
            fault(&half, true).as_deref(),
            Some("the build wrote a product that is cut short")
        );
        std::fs::write(&half, "a jar").expect("written");
        assert_eq!(fault(&half, false), None, "another program reads it");
        assert_eq!(
            fault(&half, true).as_deref(),
            Some("the build wrote a product that is not executable")
        );
    }
}
