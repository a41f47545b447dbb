//! Wishes of people for a build or a restart: each is answered once the files as they are have been
//! looked at and acted on.

use cp9_model::control::Reply;

use super::core::Core;
use super::item::Work;
use super::message::ReplyTo;

/// What is said when the thread that watches files has failed.
pub(super) const BLIND: &str =
    "cp9 itself has failed and watches files no more; run `cp9 pause`, then `cp9 up`";

impl Core {
    /// Looks at the files of a resource and builds or restarts it.
    pub(super) fn trigger(&mut self, resource: String, reply: ReplyTo) {
        if self.items.get(&resource).is_none_or(|item| !item.stays()) {
            let message = format!("the plan has no resource `{resource}`");
            let _ = reply.send(Reply::Error { message });
            return;
        }
        if self.blind {
            let message = BLIND.to_owned();
            let _ = reply.send(Reply::Error { message });
            return;
        }
        // Answered when the digest of the files as they are now has been acted on.
        self.sources.check(&resource);
        self.triggers.entry(resource).or_default().push(reply);
    }

    /// Tells who triggered a resource which of its runs answers that.
    pub(super) fn answer_triggers(&mut self, name: &str) {
        let number = match self.items.get(name).map(|item| &item.work) {
            Some(Work::Build { builder, .. }) => builder.answer(),
            Some(Work::Serve(serve)) => serve.service.answer(),
            None => return,
        };
        for reply in self.triggers.remove(name).unwrap_or_default() {
            let _ = reply.send(Reply::Begun { number });
        }
    }

    /// Answers triggers of a resource that leaves the plan.
    pub(super) fn refuse_triggers(&mut self, name: &str) {
        for reply in self.triggers.remove(name).unwrap_or_default() {
            let message = format!("the plan has no resource `{name}` any more");
            let _ = reply.send(Reply::Error { message });
        }
    }

    /// Nobody watches files any more: what waits for a digest would wait for ever.
    pub(super) fn go_blind(&mut self) {
        self.blind = true;
        self.notes.push(BLIND.to_owned());
        for reply in self.triggers.drain().flat_map(|(_, replies)| replies) {
            let message = BLIND.to_owned();
            let _ = reply.send(Reply::Error { message });
        }
    }
}
