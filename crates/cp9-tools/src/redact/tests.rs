//! No form of a secret survives, whatever stands around it and however it is cut.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::quoted_tests::{FOREIGN, SPOKEN};
use super::*;
use crate::lines::RedactingLines;

fn knowing(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::new();
    for secret in secrets {
        redactor.add(&Secret::new(*secret));
    }
    redactor
}

#[test]
fn every_form_goes() {
    let redactor = knowing(&["p\"ä s/&w+"]);
    for form in [
        "p\"ä s/&w+",
        r#"p\"ä s/&w+"#,
        r#"p\"ä s\/&w+"#,
        r#"p\"\u00e4 s/&w+"#,
        r#"p\"\u00E4 s/&w+"#,
        r#"p\"ä s/\u0026w+"#,
        r#"p\\\"ä s/&w+"#,
        "p%22%C3%A4%20s%2F%26w%2B",
        "p%22%c3%a4%20s%2f%26w%2b",
        "p%22%C3%A4+s%2F%26w%2B",
        "p%22%C3%A4%20s/%26w%2B",
    ] {
        assert_eq!(redactor.redact(&format!("a {form} z")), "a *** z", "{form}");
    }
}

#[test]
fn what_encoders_of_other_languages_write_goes() {
    let redactor = knowing(&[SPOKEN]);
    for form in FOREIGN {
        assert_eq!(redactor.redact(&format!("a={form};")), "a=***;", "{form}");
    }
}

#[test]
fn lines_of_broken_base64_go() {
    let secret = "0123456789abcdefghijklmnopqrstuvwxyz".repeat(4);
    let redactor = knowing(&[&secret]);
    let encoded = STANDARD.encode(&secret);
    for columns in [64, 76] {
        for line in encoded.as_bytes().chunks(columns) {
            let line = std::str::from_utf8(line).expect("ASCII");
            assert_eq!(redactor.redact(line), "***", "{line}");
        }
    }
}

#[test]
fn base64_goes_at_every_alignment() {
    let secret = "s3cr3t>>value??";
    let redactor = knowing(&[secret]);
    assert_eq!(redactor.redact(&STANDARD.encode(secret)), "***");
    for before in ["", "u", "us", "use", "user"] {
        for after in ["", ":", "::", ":::"] {
            let text = format!("{before}{secret}{after}");
            for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let redacted = redactor.redact(&encoded);
                assert!(redacted.contains(MASK), "{encoded} became {redacted}");
                // Only the characters that a neighbour shares may be left.
                let gone = encoded.len() + MASK.len() - redacted.len();
                assert!(
                    gone + 2 >= secret.len() * 8 / 6,
                    "{encoded} became {redacted}"
                );
            }
        }
    }
}

#[test]
fn longest_secret_wins_and_short_ones_are_ignored() {
    let redactor = knowing(&["password", "password-2024", "abc", ""]);
    assert_eq!(
        redactor.redact("x password-2024 abc password"),
        "x *** abc ***"
    );
    assert_eq!(knowing(&[]).redact("untouched"), "untouched");
}

#[test]
fn lines_of_a_key_file_go_one_by_one() {
    let redactor = knowing(&["-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQEF\n"]);
    assert_eq!(redactor.redact("got kqhkiG9w0BAQEF"), "got ***");
}

#[test]
fn masks_do_not_spell_a_secret() {
    let redactor = knowing(&["****", "x***y", "abcd"]);
    assert_eq!(redactor.redact("*********"), "***");
    assert_eq!(redactor.redact("xabcdy"), "***");
}

#[test]
fn clones_share_what_they_know() {
    let redactor = Redactor::new();
    let clone = redactor.clone();
    redactor.add(&Secret::new("late-secret"));
    assert_eq!(clone.redact("late-secret"), "***");
}

#[test]
fn former_secrets_go_and_cannot_be_read() {
    let mut former = Former::new("salt");
    assert!(former.add(&Secret::new("old-hunter2")));
    assert!(!former.add(&Secret::new("old-hunter2")), "known");
    assert!(!former.add(&Secret::new("abc")), "short");
    let kept = serde_json::to_string(&former).expect("plain data");
    assert!(!kept.contains("hunter") && !kept.contains("b2xk"), "{kept}");
    let redactor = knowing(&["new-hunter3"]);
    let read: Former = serde_json::from_str(&kept).expect("it reads");
    redactor.set_former(Some(&read));
    let text = format!(
        "old-hunter2 xold-hunter2y {} new-hunter3 old-hunter3",
        STANDARD.encode("old-hunter2")
    );
    assert_eq!(redactor.redact(&text), "*** x***y *** *** old-hunter3");
    let long = "x".repeat(500);
    for end in ["old-hunter2", "old-hunt"] {
        let shown = redactor.redact_cut(&format!("old-hunter2 {long} {end}"));
        assert!(
            shown.starts_with("*** xxx") && !shown.contains("old"),
            "{shown}"
        );
    }
    redactor.set_former(None);
    assert_eq!(redactor.redact("old-hunter2"), "old-hunter2");
}

fn secrets() -> impl Strategy<Value = Vec<String>> {
    let any =
        proptest::string::string_regex("[ -~äß\n*%+/\"\\\\]{4,24}").expect("a valid expression");
    proptest::collection::vec(any, 1..4)
}

fn clean(redactor: &Redactor, text: &str) -> Result<(), TestCaseError> {
    let known = redactor.known.read().expect("nobody panics with the lock");
    for literal in &known.literals {
        prop_assert!(
            !text.contains(literal.as_str()),
            "{literal:?} survives in {text:?}"
        );
    }
    Ok(())
}

fn text_of(pieces: &[(String, prop::sample::Index)], redactor: &Redactor) -> String {
    let known = redactor.known.read().expect("nobody panics with the lock");
    let literals: Vec<&String> = known.literals.iter().collect();
    pieces.iter().fold(String::new(), |text, (around, which)| {
        text + around + literals[which.index(literals.len())]
    })
}

/// A few encoders that share nothing with the redactor's own.
fn encoded(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let each = |part: &dyn Fn(char) -> String| secret.chars().map(part).collect::<String>();
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let hex = pairs.concat();
    let percent = |upper: bool| -> String {
        let escape = |byte: &u8| match (byte.is_ascii_alphanumeric(), upper) {
            (true, _) => char::from(*byte).to_string(),
            (false, true) => format!("%{byte:02X}"),
            (false, false) => format!("%{byte:02x}"),
        };
        bytes.iter().map(escape).collect::<String>()
    };
    // These keep a few marks as they are.
    let kept = |text: String| {
        let marks = [("2d", "-"), ("5f", "_"), ("2e", "."), ("7e", "~")];
        marks.into_iter().fold(text, |text, (code, mark)| {
            let text = text.replace(&format!("%{code}"), mark);
            text.replace(&format!("%{}", code.to_uppercase()), mark)
        })
    };
    let json = serde_json::Value::from(secret).to_string();
    vec![
        secret.to_owned(),
        hex.to_uppercase(),
        hex,
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        kept(percent(true)),
        kept(percent(false)),
        json[1..json.len() - 1].to_owned(),
        secret.replace('\\', "\\\\").replace('\'', "\\'"),
        secret.replace('\\', "\\\\").replace('"', "\\\""),
        secret.replace('\'', "'\"'\"'"),
        each(&|c| match c {
            '&' => "&amp;".into(),
            '<' => "&lt;".into(),
            '>' => "&gt;".into(),
            '"' => "&#34;".into(),
            '\'' => "&#39;".into(),
            c => c.into(),
        }),
        each(&|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_ascii() => c.into(),
            c => format!("\\u{:04x}", u32::from(c)),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn foreign_encodings_go_wherever_a_stream_is_cut(
        secret in "[!-~äß€]{1}[ -~äß€]{2,20}[!-~äß€]{1}",
        cuts in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let redactor = knowing(&[&secret]);
        for form in encoded(&secret) {
            let text = format!("<{form}>\n");
            let mut lines = RedactingLines::new(redactor.clone());
            let (mut said, mut rest) = (String::new(), text.as_bytes());
            let mut cuts = cuts.iter().cycle();
            while !rest.is_empty() {
                let (chunk, left) = rest.split_at((*cuts.next().unwrap_or(&1)).min(rest.len()));
                lines.push(chunk, &mut |line| said.push_str(line));
                rest = left;
            }
            prop_assert!(!said.contains(&form), "{form} is in {said}");
            prop_assert!(said.contains(MASK), "{form} became {said}");
        }
    }

    #[test]
    fn no_form_survives(
        secrets in secrets(),
        pieces in prop::collection::vec((".{0,12}", any::<prop::sample::Index>()), 1..6),
    ) {
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let redactor = knowing(&secrets);
        let text = text_of(&pieces, &redactor);
        clean(&redactor, &redactor.redact(&text))?;
    }

    #[test]
    fn no_form_of_a_former_secret_survives(
        secrets in secrets(),
        pieces in prop::collection::vec((".{0,12}", any::<prop::sample::Index>()), 1..6),
    ) {
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let (knows, redactor) = (knowing(&secrets), Redactor::new());
        let mut former = Former::new("salt");
        for secret in &secrets {
            former.add(&Secret::new(*secret));
        }
        redactor.set_former(Some(&former));
        clean(&knows, &redactor.redact(&text_of(&pieces, &knows)))?;
        prop_assert_eq!(redactor.longest(), knows.longest());
        let text = text_of(&pieces, &knows);
        let end = redactor.settled(&text);
        let parts = redactor.redact(&text[..end]) + "\n" + &redactor.redact(&text[end..]);
        clean(&knows, &parts)?;
    }

    #[test]
    fn ordinary_text_is_left_alone(text in "[a-m ]{0,64}") {
        prop_assert_eq!(knowing(&["nopqrstuvw"]).redact(&text), text);
    }

    #[test]
    fn a_prefix_that_is_settled_may_be_redacted_alone(
        secrets in prop::collection::vec("[a-d]{4,9}", 1..4),
        text in "[a-d]{0,80}",
        more in "[a-d]{0,20}",
    ) {
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let redactor = knowing(&secrets);
        let end = redactor.settled(&text);
        let whole = format!("{text}{more}");
        let parts = redactor.redact(&whole[..end]) + &redactor.redact(&whole[end..]);
        prop_assert_eq!(parts, redactor.redact(&whole));
    }

    #[test]
    fn chunk_borders_hide_nothing(
        secret in "[a-z+/]{6,20}",
        around in "[A-Z \r\u{1b}]{0,10}",
        cuts in prop::collection::vec(1_usize..9, 1..40),
    ) {
        let redactor = knowing(&[&secret]);
        let text = format!("{around}{secret}{around}\n{secret}\r\n{secret}");
        let mut lines = RedactingLines::new(redactor.clone());
        let (mut said, mut rest, mut cuts) = (String::new(), text.as_bytes(), cuts.into_iter().cycle());
        while !rest.is_empty() {
            let (chunk, left) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
            lines.push(chunk, &mut |line| said.extend([line, "\n"]));
            rest = left;
        }
        lines.finish(&mut |line| said.extend([line, "\n"]));
        clean(&redactor, &said)?;
        prop_assert_eq!(said.lines().count(), 3);
    }
}
