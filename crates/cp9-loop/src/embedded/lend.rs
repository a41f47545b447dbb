//! Credentials for processes of the session: the question goes past the owner of all state to whoever holds
//! the session's cloud identity, so that a cloud that is late holds up nobody else.

use cp9_model::control::{Credentials, Reply, Withheld};
use tokio::sync::{mpsc, oneshot};

/// A question for credentials: where the answer goes. It never comes when whoever should give it has failed.
pub type LoanQuestion = oneshot::Sender<Result<Credentials, Withheld>>;
/// The way to whoever answers.
pub type LoanQuestions = mpsc::UnboundedSender<LoanQuestion>;

/// Asks.
pub(super) async fn ask(lender: &LoanQuestions) -> Reply {
    let (answer_tx, answer_rx) = oneshot::channel();
    // A question that cannot be sent is dropped, and with it the way of its answer.
    let _ = lender.send(answer_tx);
    match answer_rx.await {
        Ok(Ok(credentials)) => Reply::Credentials(credentials),
        Ok(Err(why)) => Reply::Withheld(why),
        Err(_) => Reply::Withheld(Withheld {
            message: "a fault of cp9 itself ended what gives them".into(),
            remedy: Some("run `cp9 pause`, then `cp9 up`".into()),
            transient: false,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_to_ask_is_told_and_never_waited_for() {
        let told = |reply: Reply| match reply {
            Reply::Withheld(why) => why.message,
            other => panic!("{other:?}"),
        };
        let (lender_tx, mut lender_rx) = mpsc::unbounded_channel();
        let lose = async { drop(lender_rx.recv().await) };
        let (answer, ()) = tokio::join!(ask(&lender_tx), lose);
        assert!(told(answer).contains("fault of cp9"));
        drop(lender_rx);
        assert!(told(ask(&lender_tx).await).contains("fault of cp9"));
    }
}
