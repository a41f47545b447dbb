//! The sandbox at work, and the quickstart's services as a newcomer builds them.

mod quickstart;
mod sandbox;
