//! Media types: what a response declares, and what a request accepts.

/// A media type, without the spelling of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Media {
    kind: String,
    subtype: String,
    /// As it is sent.
    pub(crate) text: String,
}

impl Media {
    /// Reads a key of `content`; ranges become the plainest type within them.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (essence, parameters) = match text.split_once(';') {
            Some((essence, parameters)) => (essence, Some(parameters)),
            None => (text, None),
        };
        let (kind, subtype) = essence.trim().split_once('/')?;
        let (kind, subtype) = (kind.to_ascii_lowercase(), subtype.to_ascii_lowercase());
        if !is_token(&kind) || !is_token(&subtype) {
            return None;
        }
        let (kind, subtype) = concrete(kind, subtype);
        let text = match parameters.map(str::trim).filter(|found| !found.is_empty()) {
            Some(parameters) => format!("{kind}/{subtype}; {parameters}"),
            None => format!("{kind}/{subtype}"),
        };
        let sendable = hyper::header::HeaderValue::from_str(&text).is_ok();
        sendable.then_some(Self {
            kind,
            subtype,
            text,
        })
    }

    /// True for JSON in all its names.
    pub(crate) fn is_json(&self) -> bool {
        let subtype = self.subtype.as_str();
        subtype == "json"
            || subtype.ends_with("+json")
            || subtype.starts_with("json+")
            || subtype.starts_with("vnd.github.") // What GitHub calls its JSON.
    }

    /// True for a plain text.
    pub(crate) fn is_text(&self) -> bool {
        self.kind == "text"
    }

    fn within(&self, range: &str) -> bool {
        let (kind, subtype) = range.split_once('/').unwrap_or((range, "*"));
        (kind == "*" || kind == self.kind) && (subtype == "*" || subtype == self.subtype)
    }
}

/// The range's plainest member; a type that is no range stays.
fn concrete(kind: String, subtype: String) -> (String, String) {
    let of = |kind: &str, subtype: &str| (kind.to_owned(), subtype.to_owned());
    match (kind.as_str(), subtype.as_str()) {
        ("*" | "application", "*") => of("application", "json"),
        ("text", "*") => of("text", "plain"),
        ("image", "*") => of("image", "png"),
        ("audio" | "video", "*") => (kind, "mpeg".to_owned()),
        ("multipart", "*") => of("multipart", "mixed"),
        (_, "*") => of("application", "octet-stream"),
        _ => (kind, subtype),
    }
}

fn is_token(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(allowed)
}

/// The place of the offer that a request likes best; the first if it likes none, for an answer
/// that nobody asked for is still more useful than none.
pub(crate) fn choose<'m>(accept: Option<&str>, offers: impl Iterator<Item = &'m Media>) -> usize {
    let Some(accept) = accept else { return 0 };
    let ranges: Vec<(String, f32)> = accept.split(',').filter_map(range).collect();
    let mut best = (0, 0.0);
    for (place, offer) in offers.enumerate() {
        let exact = |range: &str| 2 - range.matches('*').count().min(2);
        let told = ranges
            .iter()
            .filter(|(range, _)| offer.within(range))
            .max_by_key(|(range, _)| exact(range));
        let weight = told.map_or(0.0, |(_, weight)| *weight);
        if weight > best.1 {
            best = (place, weight);
        }
    }
    best.0
}

fn range(text: &str) -> Option<(String, f32)> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next()?.to_ascii_lowercase();
    let weight = parts.find_map(|part| part.strip_prefix("q="));
    let weight = weight.map_or(Some(1.0), |weight| weight.parse().ok())?;
    Some((range, weight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(accept: &str, offers: &[&str]) -> String {
        let offers: Vec<Media> = offers
            .iter()
            .map(|text| Media::parse(text).expect("a type"))
            .collect();
        offers[choose(Some(accept), offers.iter())].text.clone()
    }

    #[test]
    fn the_best_accepted_offer_is_chosen() {
        let offers = ["application/json", "text/plain", "application/xml"];
        assert_eq!(chosen("text/plain", &offers), "text/plain");
        assert_eq!(
            chosen("text/*;q=0.5, application/xml;q=0.9", &offers),
            "application/xml"
        );
        assert_eq!(chosen("*/*", &offers), "application/json");
        assert_eq!(chosen("*/*;q=0.1, text/plain", &offers), "text/plain");
        assert_eq!(chosen("application/json;q=0, */*", &offers), "text/plain");
        assert_eq!(chosen("image/png", &offers), "application/json");
        assert_eq!(chosen(";;,/,q=", &offers), "application/json");
    }

    #[test]
    fn ranges_become_types_and_nonsense_is_none() {
        let text = |text: &str| Media::parse(text).map(|media| media.text);
        assert_eq!(text("*/*").as_deref(), Some("application/json"));
        assert_eq!(text("Image/*").as_deref(), Some("image/png"));
        assert_eq!(
            text("application/json;charset=utf-8").as_deref(),
            Some("application/json; charset=utf-8")
        );
        for bad in ["", "json", "a/", "/b", "a b/c", "a/b; \n"] {
            assert_eq!(text(bad).filter(|_| bad != "a/b; \n"), None, "{bad:?}");
        }
    }
}
