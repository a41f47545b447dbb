//! The plainest string of each format, as long as it must be.

/// A format, its plainest text, and how it grows: where and by what character.
struct Sample {
    format: &'static str,
    text: &'static str,
    grows: Option<(usize, &'static str)>,
}

const fn sample_of(format: &'static str, text: &'static str) -> Sample {
    Sample {
        format,
        text,
        grows: None,
    }
}

const fn growing(format: &'static str, text: &'static str, at: usize, by: &'static str) -> Sample {
    Sample {
        format,
        text,
        grows: Some((at, by)),
    }
}

const SAMPLES: [Sample; 19] = [
    sample_of("date", "1970-01-01"),
    sample_of("time", "00:00:00Z"),
    growing("date-time", "1970-01-01T00:00:00Z", 19, ".0"),
    growing("duration", "PT0S", 2, "0"),
    sample_of("uuid", "00000000-0000-0000-0000-000000000000"),
    growing("email", "a@example.com", 0, "a"),
    growing("idn-email", "a@example.com", 0, "a"),
    growing("hostname", "localhost", 0, "a"),
    growing("idn-hostname", "localhost", 0, "a"),
    sample_of("ipv4", "0.0.0.0"),
    sample_of("ipv6", "::"),
    growing("uri", "http://localhost/", 17, "a"),
    growing("iri", "http://localhost/", 17, "a"),
    growing("uri-reference", "", 0, "a"),
    growing("iri-reference", "", 0, "a"),
    growing("uri-template", "", 0, "a"),
    growing("json-pointer", "", 0, "/"),
    growing("regex", "", 0, "a"),
    growing("byte", "", 0, "AAAA"),
];

/// True for a format whose strings are not just any text.
pub(crate) fn is_known(format: &str) -> bool {
    SAMPLES.iter().any(|sample| sample.format == format)
}

/// The plainest string of a format with at least `min` characters, if it can be that long.
pub(crate) fn sample(format: &str, min: usize) -> Option<String> {
    let sample = SAMPLES.iter().find(|sample| sample.format == format)?;
    let missing = min.saturating_sub(sample.text.len());
    match sample.grows {
        _ if missing == 0 => Some(sample.text.to_owned()),
        // A fraction of a second begins with its point.
        Some((at, ".0")) => {
            let (before, after) = sample.text.split_at(at);
            let zeros = "0".repeat(missing.saturating_sub(1).max(1));
            Some(format!("{before}.{zeros}{after}"))
        }
        Some((at, by)) => {
            let (before, after) = sample.text.split_at(at);
            let times = missing.div_ceil(by.len());
            Some(format!("{before}{}{after}", by.repeat(times)))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_grow_to_the_length_that_is_asked_for() {
        let long = |format: &str| sample(format, 24).expect("it grows");
        assert_eq!(long("date-time"), "1970-01-01T00:00:00.000Z");
        assert_eq!(long("email"), "aaaaaaaaaaaaa@example.com"[1..]);
        assert_eq!(long("uri"), "http://localhost/aaaaaaa");
        assert_eq!(long("byte").len(), 24);
        assert_eq!(sample("ipv4", 24), None);
        assert_eq!(sample("nothing", 0), None);
    }
}
