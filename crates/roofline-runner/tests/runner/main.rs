//! The SDK from outside, as runners and the conductor see it.

mod conductor;
mod conversation;
mod cpu;
mod guard_pages;
mod hostile;
mod sys;
