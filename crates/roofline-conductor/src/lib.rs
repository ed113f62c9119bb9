//! The trusted side of Roofline: it owns inputs, references, judgement and statistics, and links no kernel.

pub mod machine;
