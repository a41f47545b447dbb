//! Which accounts may be written to.

use thiserror::Error;

use crate::explain::{Category, Explain};

/// The lists of the session file.
#[derive(Debug, Clone, Copy)]
pub struct Accounts<'a> {
    /// The accounts that may be written to; an empty list allows none.
    pub allowed: &'a [String],
    /// The accounts that are refused whatever else is said.
    pub blocked: &'a [String],
}

/// The proven account is not one to write to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AccountError {
    /// It is on no allowlist.
    #[error("account {account} of `{principal}` is not on `target.aws.account_allowlist`")]
    NotAllowed {
        /// The account.
        account: String,
        /// Who was proven.
        principal: String,
        /// Those that are allowed.
        allowed: Vec<String>,
    },
    /// It is on the blocklist.
    #[error("account {account} of `{principal}` is on `target.aws.account_blocklist`")]
    Blocked {
        /// The account.
        account: String,
        /// Who was proven.
        principal: String,
    },
}

impl Explain for AccountError {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } => "account-not-allowed",
            Self::Blocked { .. } => "account-blocked",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NotAllowed {
                account, allowed, ..
            } if allowed.is_empty() => {
                format!(
                    "if it is yours to write to, set `target.aws.account_allowlist: [\"{account}\"]`"
                )
            }
            Self::NotAllowed {
                account, allowed, ..
            } => format!(
                "use a profile of {}, or add \"{account}\" to `target.aws.account_allowlist`",
                allowed.join(" or ")
            ),
            Self::Blocked { .. } => {
                "use a profile of another account; this list has no exception".into()
            }
        })
    }
}

impl Accounts<'_> {
    /// Refuses an account that may not be written to; `principal` is who was proven in it.
    pub fn admit(&self, account: &str, principal: &str) -> Result<(), AccountError> {
        let on = |list: &[String]| list.iter().any(|entry| entry == account);
        let (account, principal) = (account.to_owned(), principal.to_owned());
        if on(self.blocked) {
            return Err(AccountError::Blocked { account, principal });
        }
        if on(self.allowed) {
            return Ok(());
        }
        Err(AccountError::NotAllowed {
            account,
            principal,
            allowed: self.allowed.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_allowed_and_not_blocked_is_admitted() {
        let allowed = ["111111111111".to_owned(), "222222222222".to_owned()];
        let blocked = ["222222222222".to_owned()];
        let accounts = Accounts {
            allowed: &allowed,
            blocked: &blocked,
        };
        let who = "arn:aws:iam::1:user/x";
        assert_eq!(accounts.admit("111111111111", who), Ok(()));
        let blocked = accounts.admit("222222222222", who).expect_err("blocked");
        assert_eq!(blocked.code(), "account-blocked");
        let other = accounts.admit("333333333333", who).expect_err("unknown");
        assert!(other.to_string().contains(who) && other.to_string().contains("333333333333"));
        let none = Accounts {
            allowed: &[],
            blocked: &[],
        };
        let empty = none
            .admit("111111111111", who)
            .expect_err("nothing allowed");
        assert!(empty.remedy().expect("one").contains("[\"111111111111\"]"));
    }
}
