//! Tasks that others wait for: one that panics is a fault of ours, and must not leave its resource
//! waiting for ever.

use std::future::Future;

use super::message::{Message, Messages};

/// What a resource says then; the panic itself is in the log of the controller's own output.
pub(super) const FAULT: &str =
    "a fault of cp9 itself ended the work; `logs/controller.log` says which";

/// Does some work in a task of its own. If that panics, the owner of all state hears what `lost`
/// has to say, once it has tidied up.
pub(super) fn oversee(
    messages: &Messages,
    work: impl Future<Output = ()> + Send + 'static,
    lost: impl Future<Output = Message> + Send + 'static,
) {
    let working = tokio::spawn(work);
    let messages = messages.clone();
    tokio::spawn(async move {
        if working.await.is_err_and(|error| error.is_panic()) {
            let _ = messages.send(lost.await);
        }
    });
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_told_and_a_quiet_end_is_not() {
        let (messages_tx, mut messages) = unbounded_channel();
        let note = |text: &str| {
            let text = text.to_owned();
            async move { Message::Note(text) }
        };
        oversee(&messages_tx, async {}, note("no"));
        oversee(
            &messages_tx,
            async { panic!("a fault of ours") },
            note("yes"),
        );
        drop(messages_tx);
        let told = messages.recv().await;
        assert!(
            matches!(&told, Some(Message::Note(text)) if text == "yes"),
            "{told:?}"
        );
        assert!(messages.recv().await.is_none());
    }
}
