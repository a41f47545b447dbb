//! Whose an object is. Owner and session must both be equal; nothing else makes an object the scope's.

use std::collections::BTreeMap;

use super::found::Found;
use crate::scope::{Scope, TAG_OWNER, TAG_SESSION};

/// Whose an object is, by its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The scope's: both tags are equal.
    Ours,
    /// Another owner's or another session's.
    Others,
    /// Nobody's: at least one of the tags is missing, and none says another scope.
    Untagged,
    /// Its tags could not be read. It is not ours.
    Unreadable,
}

impl Found {
    /// Whose it is.
    pub fn standing(&self, scope: &Scope) -> Standing {
        match &self.tags {
            Some(tags) => standing(tags, scope),
            None => Standing::Unreadable,
        }
    }
}

fn standing(tags: &BTreeMap<String, String>, scope: &Scope) -> Standing {
    let owner = tags.get(TAG_OWNER).map(String::as_str);
    let session = tags.get(TAG_SESSION).map(String::as_str);
    let (ours_owner, ours_session) = (scope.owner.as_str(), scope.session.as_str());
    match (owner, session) {
        (Some(owner), Some(session)) if owner == ours_owner && session == ours_session => {
            Standing::Ours
        }
        (Some(owner), _) if owner != ours_owner => Standing::Others,
        (_, Some(session)) if session != ours_session => Standing::Others,
        _ => Standing::Untagged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;
    use crate::reaper::Key;

    fn of(tags: Option<&[(&str, &str)]>) -> Standing {
        let scope = Scope {
            owner: Owner::new("ann@example.com"),
            session: "shop".parse().unwrap(),
            id: "1".into(),
        };
        let mut found = Found::new(Key::new("r", "k", "i"));
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        found.tags = tags.map(|tags| tags.iter().map(pair).collect());
        found.standing(&scope)
    }

    #[test]
    fn only_both_tags_make_an_object_ours() {
        let (owner, session) = ((TAG_OWNER, "ann@example.com"), (TAG_SESSION, "shop"));
        assert_eq!(of(Some(&[owner, session])), Standing::Ours);
        assert_eq!(of(Some(&[owner, session, ("a", "b")])), Standing::Ours);
        assert_eq!(of(Some(&[owner])), Standing::Untagged);
        assert_eq!(of(Some(&[session])), Standing::Untagged);
        assert_eq!(of(Some(&[])), Standing::Untagged);
        assert_eq!(of(None), Standing::Unreadable);
        for others in [
            [(TAG_OWNER, "bob@example.com"), session],
            [owner, (TAG_SESSION, "shop2")],
            [owner, (TAG_SESSION, "Shop")],
            [(TAG_OWNER, "ann@example.com "), session],
            [(TAG_OWNER, ""), session],
        ] {
            assert_eq!(of(Some(&others)), Standing::Others, "{others:?}");
        }
    }

    #[test]
    fn keys_are_taken_as_they_are() {
        let upper = [("CP9-owner", "ann@example.com"), ("Cp9-Session", "shop")];
        assert_eq!(of(Some(&upper)), Standing::Untagged);
    }
}
