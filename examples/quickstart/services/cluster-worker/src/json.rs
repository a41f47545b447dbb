//! JSON, read strictly and written compactly, on `std` alone.
//! The same file stands in both services, as each is a checkout of its own.

use std::fmt;

/// Deeper input is refused, so that it cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// A JSON value. Numbers keep the digits they were written with.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => {
                members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The text of a key; `None` if it is absent or anything but text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        }
    }
}

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(digits) => f.write_str(digits),
            Json::Text(text) => quote(f, text),
            Json::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Json::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    quote(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Reads one JSON value that fills the whole text.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.skip_blanks();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.error("nothing more")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Takes a byte if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn error(&self, wanted: &str) -> String {
        format!("expected {wanted} at byte {}", self.at)
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.members(depth),
            Some(b'[') => self.items(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        for (word, value) in
            [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("a value"))
    }

    fn items(&mut self, depth: usize) -> Result<Json, String> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !self.take(b',') {
                return Err(self.error("`,` or `]`"));
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Json, String> {
        let mut members: Vec<(String, Json)> = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_blanks();
            let key = self.string()?;
            if members.iter().any(|(name, _)| *name == key) {
                return Err(format!("key {} stands twice", Json::Text(key)));
            }
            self.skip_blanks();
            if !self.take(b':') {
                return Err(self.error("`:`"));
            }
            members.push((key, self.value(depth + 1)?));
            self.skip_blanks();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.take(b',') {
                return Err(self.error("`,` or `}`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.take(b'"') {
            return Err(self.error("`\"`"));
        }
        let mut out = String::new();
        loop {
            match self.text[self.at..].chars().next() {
                Some('"') => break,
                Some('\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                Some(c) if c >= ' ' => {
                    self.at += c.len_utf8();
                    out.push(c);
                }
                _ => return Err(self.error("`\"`")),
            }
        }
        self.at += 1;
        Ok(out)
    }

    fn escape(&mut self) -> Result<char, String> {
        let escape = self.peek();
        self.at += 1;
        match escape {
            Some(c @ (b'"' | b'\\' | b'/')) => Ok(char::from(c)),
            Some(b'b') => Ok('\u{8}'),
            Some(b'f') => Ok('\u{c}'),
            Some(b'n') => Ok('\n'),
            Some(b'r') => Ok('\r'),
            Some(b't') => Ok('\t'),
            Some(b'u') => self.unicode(),
            _ => {
                self.at -= 1;
                Err(self.error("an escape"))
            }
        }
    }

    /// Four digits, or two times four for a character beyond U+FFFF.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex4()?;
        let mut code = first;
        if (0xd800..0xdc00).contains(&first) && self.take(b'\\') && self.take(b'u') {
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            }
        }
        char::from_u32(code).ok_or_else(|| self.error("a whole surrogate pair"))
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.error("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.at].to_owned()))
    }

    fn digits(&mut self) -> Result<(), String> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.error("a digit"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let text = r#"{"a":[1,-0.5e+3,true,null,[]],"b":{"c":"x \"y\" \\ \n \u0001 ü 😀"},"d":{}}"#;
        assert_eq!(parse(text).expect("good").to_string(), text);
        let spaced = " { \"a\" : [ 1 , 2 ] } \n";
        assert_eq!(parse(spaced).expect("good").to_string(), r#"{"a":[1,2]}"#);
    }

    #[test]
    fn reads_escapes() {
        let value = parse(r#"{"name":"a\u00fc\/\t\ud83d\ude00"}"#).expect("good");
        assert_eq!(value.text("name"), Some("aü/\t😀"));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for bad in [
            "",
            "nul",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "-",
            "+1",
            "1e",
            "\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u00é\"",
            "\"\\ud83d\"",
            "\"\\ud83dx\"",
            "\"\\ud83d\\u0041\"",
            "\"\\ude00\"",
            "\"\n\"",
            "{} {}",
            "{\"a\":1,\"a\":2}",
            "\"\\",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert!(parse(&"[".repeat(100_000)).expect_err("deep").contains("deeper"));
    }
}
