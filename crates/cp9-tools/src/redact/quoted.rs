//! How languages, markup and shells write a text between quotes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Every way of writing a text, without the quotes around it.
pub(super) fn of(text: &str) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    forms.extend(markup(text));
    forms.extend(shell(text));
    forms.extend(languages(text));
    // SQL and CSV double what ends a value.
    forms.insert(text.replace('\'', "''"));
    forms.insert(text.replace('"', "\"\""));
    forms
}

/// What stands for a character of markup, by the library that writes it.
const MARKUP: [&[(char, &str)]; 8] = [
    &[],
    &[('"', "&quot;"), ('\'', "&#x27;")],
    &[('"', "&#34;"), ('\'', "&#39;")],
    &[('"', "&quot;"), ('\'', "&#39;")],
    &[('"', "&quot;"), ('\'', "&apos;")],
    &[('"', "&quot;")],
    &[('"', "&quot;"), ('\'', "&#x27;"), ('/', "&#x2F;")],
    &[
        ('"', "&quot;"),
        ('\'', "&#39;"),
        ('/', "&#x2F;"),
        ('`', "&#x60;"),
        ('=', "&#x3D;"),
    ],
];

/// HTML and XML: names or numbers for what has a meaning, and for what is no ASCII as it is or numbers.
fn markup(text: &str) -> Vec<String> {
    let mut forms = vec![replaced(text, |c| number(c, false))];
    for own in MARKUP {
        for gt in [true, false] {
            let part = |c: char| match c {
                '&' => Some("&amp;".to_owned()),
                '<' => Some("&lt;".to_owned()),
                '>' if gt => Some("&gt;".to_owned()),
                c => named(own, c),
            };
            let numbered = |c: char| part(c).or_else(|| number(c, false));
            let in_hex = |c: char| part(c).or_else(|| number(c, true));
            forms.push(replaced(text, part));
            forms.push(replaced(text, numbered));
            forms.push(replaced(text, in_hex));
        }
    }
    forms
}

fn named(table: &[(char, &str)], c: char) -> Option<String> {
    let found = table.iter().find(|(from, _)| *from == c)?;
    Some(found.1.to_owned())
}

fn number(c: char, hex: bool) -> Option<String> {
    if c.is_ascii() && c >= ' ' {
        return None;
    }
    let code = u32::from(c);
    Some(if hex {
        format!("&#x{code:X};")
    } else {
        format!("&#{code};")
    })
}

/// Characters that a shell may take for its own, as `printf %q` sees them.
const SHELL: &str = " \t!\"$&'()*,;<>?[\\]^`{|}~#=%@+:";
/// What keeps a meaning between double quotes.
const BETWEEN_DOUBLE: [&str; 2] = ["\"$`\\", "\"$`\\!"];

fn shell(text: &str) -> Vec<String> {
    let mut forms = vec![
        text.replace('\'', r"'\''"),
        text.replace('\'', "'\"'\"'"),
        text.replace('\'', "'\\''").replace('!', "'\\!'"),
    ];
    let behind = |special: &str| {
        let special = special.to_owned();
        move |c: char| special.contains(c).then(|| format!("\\{c}"))
    };
    forms.extend(BETWEEN_DOUBLE.map(|special| replaced(text, behind(special))));
    // Which of the rarer ones are escaped differs from shell to shell.
    for spared in ["", "%@+:=", "%@+:=,", "%@+:=,#~", "%@+:", "=", "@+:,"] {
        let special: String = SHELL.chars().filter(|c| !spared.contains(*c)).collect();
        forms.push(replaced(text, behind(&special)));
    }
    // `$'…'`: as C writes it, what is no ASCII as it is or in octal bytes.
    for ascii in [false, true] {
        forms.push(replaced(text, |c| match c {
            '\'' | '\\' => Some(format!("\\{c}")),
            '\u{1b}' => Some("\\E".to_owned()),
            c => control(c).or_else(|| {
                let odd = c.is_control() || (ascii && !c.is_ascii());
                odd.then(|| bytes(c, |byte| format!("\\{byte:03o}")))
            }),
        }));
    }
    forms
}

/// Texts of Go, Python, Rust, C and JavaScript.
fn languages(text: &str) -> Vec<String> {
    let debug = format!("{text:?}");
    let escaped = text.escape_default().to_string();
    let in_page = replaced(text, |c| match c {
        '<' | '>' | '&' | '=' => Some(format!("\\u{:04X}", u32::from(c))),
        c => escape(c, "\"'", false, WIDE[0]),
    });
    let mut forms = vec![debug[1..debug.len() - 1].to_owned(), escaped, in_page];
    for quotes in ["\"", "'", "\"'", ""] {
        for ascii in [false, true] {
            for wide in WIDE {
                forms.push(replaced(text, |c| escape(c, quotes, ascii, wide)));
            }
        }
    }
    forms
}

/// How a character without a name is written.
#[derive(Debug, Clone, Copy)]
struct Wide {
    /// Up to this, two digits after `\x`; the rest has four after `\u` or eight after `\U`.
    two_digits: u32,
    /// As the bytes of UTF-8, two digits each.
    bytes: bool,
    /// Names such as `\a` and `\v` are known.
    names: bool,
}

const WIDE: [Wide; 4] = [
    // Go; Python; bytes of Python and C; JavaScript, which knows `\b`, `\f` and `\v`.
    Wide {
        two_digits: 0x7f,
        bytes: false,
        names: true,
    },
    Wide {
        two_digits: 0xff,
        bytes: false,
        names: false,
    },
    Wide {
        two_digits: 0xff,
        bytes: true,
        names: false,
    },
    Wide {
        two_digits: 0xff,
        bytes: false,
        names: true,
    },
];

fn escape(c: char, quotes: &str, ascii: bool, wide: Wide) -> Option<String> {
    if c == '\\' || quotes.contains(c) {
        return Some(format!("\\{c}"));
    }
    if !c.is_control() && (c.is_ascii() || !ascii) {
        return None;
    }
    let common = matches!(c, '\n' | '\r' | '\t');
    if (common || wide.names)
        && let Some(name) = control(c)
    {
        return Some(name);
    }
    if wide.bytes {
        return Some(bytes(c, |byte| format!("\\x{byte:02x}")));
    }
    let code = u32::from(c);
    Some(match code {
        code if code <= wide.two_digits => format!("\\x{code:02x}"),
        0..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    })
}

/// The names of control characters in C.
fn control(c: char) -> Option<String> {
    let name = match c {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        _ => return None,
    };
    Some(format!("\\{name}"))
}

fn bytes(c: char, written: impl Fn(u8) -> String) -> String {
    let mut utf8 = [0; 4];
    c.encode_utf8(&mut utf8).bytes().map(written).collect()
}

fn replaced(text: &str, part: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match part(c) {
            Some(part) => {
                let _ = out.write_str(&part);
            }
            None => out.push(c),
        }
    }
    out
}
