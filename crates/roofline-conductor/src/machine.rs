//! The machine that measures: its identity, its fingerprint, and what on it disturbs measuring.
