//! Just as much of HCL as a working copy needs: blocks with their labels, attributes that are plain text,
//! and every quoted text. What is no HCL is passed over; Terraform itself judges the syntax.

/// Blocks around a place, outermost first.
type Around = Vec<(String, Vec<String>)>;

/// What stands in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// Blocks with those around them.
    pub(super) blocks: Vec<(Around, String, Vec<String>)>,
    /// Attributes with the blocks around them; the text of those that are plain.
    pub(super) attributes: Vec<(Around, String, Option<String>)>,
    /// Every quoted text as written.
    pub(super) texts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
    End,
}

/// Reads a file.
pub(super) fn scan(text: &str) -> Scan {
    let tokens = Lexer::new(text).all();
    let mut scan = Scan {
        texts: tokens.iter().filter_map(quoted).collect(),
        ..Scan::default()
    };
    let mut at = 0;
    while at < tokens.len() {
        body(&tokens, &mut at, &mut Vec::new(), &mut scan);
        // A brace too many ends nothing at the top.
        at += 1;
    }
    scan
}

fn quoted(token: &Token) -> Option<String> {
    match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    }
}

/// Reads until the brace that closes this body.
fn body(tokens: &[Token], at: &mut usize, around: &mut Around, scan: &mut Scan) {
    while let Some(token) = tokens.get(*at) {
        match token {
            Token::Mark('}') => return,
            Token::Word(name) => {
                *at += 1;
                if tokens.get(*at) == Some(&Token::Mark('=')) {
                    *at += 1;
                    let value = value(tokens, at);
                    scan.attributes.push((around.clone(), name.clone(), value));
                } else {
                    block(name, tokens, at, around, scan);
                }
            }
            _ => *at += 1,
        }
    }
}

fn block(name: &str, tokens: &[Token], at: &mut usize, around: &mut Around, scan: &mut Scan) {
    let mut labels = Vec::new();
    loop {
        match tokens.get(*at) {
            Some(Token::Word(label) | Token::Text(label)) => labels.push(label.clone()),
            Some(Token::Mark('{')) => break,
            _ => return,
        }
        *at += 1;
    }
    *at += 1;
    scan.blocks
        .push((around.clone(), name.to_owned(), labels.clone()));
    // Files of people are not that deep; one that is, is not read further than this.
    if around.len() < 64 {
        around.push((name.to_owned(), labels));
        body(tokens, at, around, scan);
        around.pop();
    }
    if tokens.get(*at) == Some(&Token::Mark('}')) {
        *at += 1;
    }
}

/// Passes over a value; its text if it is nothing but plain text.
fn value(tokens: &[Token], at: &mut usize) -> Option<String> {
    let from = *at;
    let mut depth = 0_u32;
    while let Some(token) = tokens.get(*at) {
        match token {
            Token::Mark('{' | '[' | '(') => depth += 1,
            Token::Mark('}' | ']' | ')') | Token::End if depth == 0 => break,
            Token::Mark('}' | ']' | ')') => depth -= 1,
            _ => {}
        }
        *at += 1;
    }
    match &tokens[from..*at] {
        [Token::Text(text)] if !text.contains("${") && !text.contains("%{") => Some(text.clone()),
        _ => None,
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn all(mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            if first == '#' || rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else if first == '"' {
                tokens.push(Token::Text(self.quoted()));
            } else if rest.starts_with("<<") && self.heredoc() {
                tokens.push(Token::Mark('<'));
                tokens.push(Token::End);
            } else if first.is_alphabetic() || first == '_' {
                tokens.push(Token::Word(self.word()));
            } else {
                self.at += first.len_utf8();
                match first {
                    '\n' => tokens.push(Token::End),
                    other if other.is_whitespace() => {}
                    // `==` compares; two marks would read like an attribute.
                    '=' if self.rest().starts_with('=') => {
                        self.at += 1;
                        tokens.push(Token::Mark('~'));
                    }
                    other => tokens.push(Token::Mark(other)),
                }
            }
        }
        tokens
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let inner = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let end = rest.find(|c| !inner(c)).unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_owned()
    }

    /// A quoted text, in whose templates there may be quoted texts again.
    fn quoted(&mut self) -> String {
        self.at += 1;
        let from = self.at;
        let mut depth = 0_u32;
        let mut inside = false;
        while let Some(c) = self.rest().chars().next() {
            let rest = self.rest();
            let step = match c {
                '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                '"' if depth == 0 => {
                    let text = &self.text[from..self.at];
                    self.at += 1;
                    return text.to_owned();
                }
                '"' => {
                    inside = !inside;
                    1
                }
                _ if rest.starts_with("$${") || rest.starts_with("%%{") => 3,
                _ if rest.starts_with("${") || rest.starts_with("%{") => {
                    depth += 1;
                    2
                }
                '{' if depth > 0 && !inside => {
                    depth += 1;
                    1
                }
                '}' if depth > 0 && !inside => {
                    depth -= 1;
                    1
                }
                '\n' if depth == 0 => return self.text[from..self.at].to_owned(),
                other => other.len_utf8(),
            };
            self.at += step;
        }
        self.text[from..].to_owned()
    }

    /// Passes over a heredoc; false if there is none.
    fn heredoc(&mut self) -> bool {
        let rest = self.rest();
        let Some((first, body)) = rest.split_once('\n') else {
            return false;
        };
        let mark = first[2..].trim_start_matches('-').trim();
        let named = mark
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if mark.is_empty() || !named {
            return false;
        }
        let mut length = first.len() + 1;
        for line in body.split_inclusive('\n') {
            length += line.len();
            if line.trim() == mark {
                break;
            }
        }
        self.at += length.min(rest.len());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(path: &[(&str, &[&str])]) -> Around {
        let own = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect();
        path.iter()
            .map(|(kind, labels)| ((*kind).to_owned(), own(labels)))
            .collect()
    }

    #[test]
    fn blocks_attributes_and_texts_are_found() {
        let scan = scan(
            r##"
            # variable "no" {}
            // variable "no" {}
            /* variable "no" {} */
            variable "cp9_tags" { type = map(string) }
            module "m" {
              source = "../modules/x" // here
              name   = "a-${var.x == "}" ? "y" : "z{"}"
              text   = <<-EOT
                variable "no" {}
                source = "../no"
              EOT
              nested = { source = "../object" }
            }
            data "external" "e" {
              program = ["sh"]
            }
            locals {
              a = "${path.module}/../files/x.json"
              "quoted" = 1
            }
            "##,
        );
        let blocks: Vec<_> = scan
            .blocks
            .iter()
            .map(|(_, kind, labels)| (kind.as_str(), labels.join(".")))
            .collect();
        assert_eq!(
            blocks,
            [
                ("variable", "cp9_tags".to_owned()),
                ("module", "m".to_owned()),
                ("data", "external.e".to_owned()),
                ("locals", String::new())
            ]
        );
        let source = scan.attributes.iter().find(|(_, name, _)| name == "source");
        let expected = (
            around(&[("module", &["m"])]),
            "source".to_owned(),
            Some("../modules/x".to_owned()),
        );
        assert_eq!(source, Some(&expected));
        let names: Vec<_> = scan
            .attributes
            .iter()
            .map(|(_, name, _)| name.as_str())
            .collect();
        assert_eq!(
            names,
            ["type", "source", "name", "text", "nested", "program", "a"]
        );
        assert!(
            scan.texts
                .iter()
                .any(|text| text.contains("../files/x.json"))
        );
    }

    #[test]
    fn nothing_makes_it_panic_or_hang() {
        let samples = [
            "",
            "}",
            "{",
            "\"",
            "\"${",
            "a =",
            "<<",
            "<<X",
            "<<X\n",
            "<<-\n",
            "\\",
            "\"\\",
            "a \"b",
            "ü = \"ä${\"ö\"}\"",
            "/*",
            "a {{{{",
            "= = =",
            "\"%{\n",
            "a = [\n",
            "🦀 { 🦀 = \"🦀\\🦀\" }",
        ];
        for sample in samples {
            let _ = scan(sample);
        }
        let deep = scan(&"a {".repeat(5000));
        let deepest = deep.blocks.iter().map(|(around, ..)| around.len()).max();
        assert_eq!(deepest, Some(64));
    }
}
