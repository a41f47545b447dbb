//! JSON, read strictly and written compactly, on `std` alone.
//! The same file stands in both services, as each is a checkout of its own; its tests stand in
//! cluster-api.

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
    /// The value of a key; `Null` if it is absent, or this is no object.
    pub fn get(&self, key: &str) -> &Json {
        let members = if let Json::Object(members) = self {
            members.as_slice()
        } else {
            &[]
        };
        members
            .iter()
            .find(|(name, _)| name == key)
            .map_or(&Json::Null, |(_, value)| value)
    }

    /// The text of a key; `None` if it is absent or anything but text.
    pub fn text(&self, key: &str) -> Option<&str> {
        if let Json::Text(text) = self.get(key) {
            Some(text)
        } else {
            None
        }
    }
}

/// An object of these members.
pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

impl<T: Into<String>> From<T> for Json {
    fn from(text: T) -> Json {
        Json::Text(text.into())
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
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "[" } else { "," })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(members) => {
                for (at, (key, value)) in members.iter().enumerate() {
                    f.write_str(if at == 0 { "{" } else { "," })?;
                    quote(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Reads one JSON value that fills the whole text.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = reader.value()?;
    reader.skip_blanks();
    if reader.peek().is_some() {
        Err(reader.error("nothing more"))
    } else {
        Ok(value)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.error(&format!("`{}`", char::from(byte))))
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn error(&self, wanted: &str) -> String {
        format!("expected {wanted} at byte {}", self.at)
    }

    fn value(&mut self) -> Result<Json, String> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.list(b'}', Reader::member).map(Json::Object),
            Some(b'[') => self.list(b']', Reader::value).map(Json::List),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    /// What stands between brackets, the first of which comes next.
    fn list<T>(
        &mut self,
        close: u8,
        item: fn(&mut Self) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH}"));
        }
        self.at += 1;
        self.skip_blanks();
        let mut items = Vec::new();
        if !self.take(close) {
            items.push(item(self)?);
            self.skip_blanks();
            while !self.take(close) {
                self.expect(b',')?;
                items.push(item(self)?);
                self.skip_blanks();
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn member(&mut self) -> Result<(String, Json), String> {
        self.skip_blanks();
        let key = self.string()?;
        self.skip_blanks();
        self.expect(b':')?;
        Ok((key, self.value()?))
    }

    fn word(&mut self) -> Result<Json, String> {
        let words = [
            ("null", Json::Null),
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
        ];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.error("a value"))
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect(b'"')?;
        let mut out = String::new();
        while let Some(c) = self.text[self.at..].chars().next().filter(|c| *c >= ' ') {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => out.push(self.escape()?),
                c => out.push(c),
            }
        }
        Err(self.error("`\"`"))
    }

    fn escape(&mut self) -> Result<char, String> {
        let (written, meant) = (b"\"\\/bfnrt", "\"\\/\u{8}\u{c}\n\r\t");
        if let Some(at) = written.iter().position(|byte| self.take(*byte)) {
            return Ok(char::from(meant.as_bytes()[at]));
        }
        // Four digits, or two times four for a character beyond U+FFFF.
        let mut code = self.hex4()?;
        if (0xd800..0xdc00).contains(&code) && self.take(b'\\') {
            let low = self.hex4()?.wrapping_sub(0xdc00);
            code = if low < 0x400 {
                0x10000 + ((code - 0xd800) << 10) + low
            } else {
                code
            };
        }
        char::from_u32(code).ok_or_else(|| self.error("a whole surrogate pair"))
    }

    fn hex4(&mut self) -> Result<u32, String> {
        self.expect(b'u')?;
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += if code.is_some() { 4 } else { 0 };
        code.ok_or_else(|| self.error("four hexadecimal digits"))
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        ) {
            self.at += 1;
        }
        let digits = &self.text[start..self.at];
        let number = digits
            .parse::<f64>()
            .map(|_| Json::Number(digits.to_owned()));
        number.map_err(|_| self.error("a number"))
    }
}
