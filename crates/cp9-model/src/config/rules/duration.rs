//! Durations: whole numbers with `d`, `h`, `m` or `s`, largest first, such as `8h` or `1d12h`.

use crate::config::check::{Check, dotted};
use crate::config::raw::Session;
use crate::diagnostic::Code;

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
/// One minute, and a little over a year.
const LEAST: u64 = 60;
const MOST: u64 = 400 * 86_400;

/// The seconds of a duration; none if it is not written as one.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut total = 0_u64;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..end].parse().ok()?;
        let unit = rest[end..].chars().next()?;
        let (_, size) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(*size)?)?;
        rest = &rest[end + 1..];
    }
    (!text.is_empty()).then_some(total)
}

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    let host = session.host.as_ref().and_then(|host| host.ttl.as_deref());
    one(check, "/host/ttl", host);
    let aws = session
        .clouds
        .as_ref()
        .and_then(|clouds| clouds.aws.as_ref());
    one(
        check,
        "/clouds/aws/ttl",
        aws.and_then(|aws| aws.ttl.as_deref()),
    );
}

fn one(check: &mut Check<'_>, pointer: &str, text: Option<&str>) {
    let Some(text) = text else { return };
    let place = dotted(pointer);
    let message = match seconds(text) {
        None => format!("`{place}: {text}` is no duration"),
        Some(0..LEAST) => format!("`{place}: {text}` is shorter than one minute"),
        Some(all) if all > MOST => format!("`{place}: {text}` is longer than 400 days"),
        Some(_) => return,
    };
    let found = check.value(Code::DURATION, pointer, message);
    check.add(found.help("write whole numbers with `d`, `h`, `m` or `s`, such as `8h` or `1d12h`"));
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn durations() {
        for (text, want) in [
            ("8h", 28_800),
            ("1d12h", 129_600),
            ("90m", 5_400),
            ("1h1m1s", 3_661),
            ("0s", 0),
        ] {
            assert_eq!(seconds(text), Some(want), "{text}");
        }
        let huge = format!("{}d", u64::MAX);
        for text in [
            "",
            "8",
            "h",
            "8 h",
            "1m1h",
            "1h1h",
            "-1h",
            "1.5h",
            "8ü",
            "8hours",
            huge.as_str(),
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
