//! The SDK from outside, as runners and the conductor see it.

mod conductor;
mod conversation;
mod guard_pages;
