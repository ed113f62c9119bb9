//! A conversation as files, so that any runner can be driven by hand: under a debugger, a profiler.

use crate::instance::Instance;
pub use crate::instance::Placement;
use crate::lane::question;
use crate::stage::Seat;
use roofline_core::case::Case;
use roofline_core::fill::Fill;
use roofline_core::philox::Draws;
use roofline_core::protocol::{Ask, Question, VERSION};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the tensors hold and where they lie in their files.
#[derive(Clone, Copy, Debug)]
pub struct Contents {
    pub placement: Placement,
    pub fill: Fill,
    pub seed: u64,
}

/// Writes `conversation.jsonl` and a file for each tensor to `folder`, and returns the conversation's path.
///
/// The runner reads the conversation on its standard input and finds the tensors by their paths.
pub fn write(
    case: &Case,
    implementation: &str,
    folder: &Path,
    contents: Contents,
    launches: u32,
) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let Contents { placement, fill, seed } = contents;
    let mut instance = Instance::new(case, placement, &mut Draws::new(seed, 1))?;
    instance.fill(fill, seed);
    instance.save(&folder)?;
    let seat = Seat::of(case, implementation.split('/').next().unwrap_or_default(), implementation);
    let mut prepare = question(case, &seat, &instance);
    for place in &mut prepare.tensors {
        place.path = Some(folder.join(&place.name).display().to_string());
    }
    let asks = [
        Ask::Hello { protocol: VERSION },
        Ask::Prepare(Box::new(prepare)),
        Ask::Launch { count: launches },
        Ask::Visit { warmup: 1, samples: 5, batch: launches },
        Ask::Release,
        Ask::Bye,
    ];
    let path = folder.join("conversation.jsonl");
    let mut file = std::fs::File::create(&path)?;
    for (number, ask) in asks.into_iter().enumerate() {
        let question = Question { id: number as u64 + 1, ask };
        writeln!(file, "{}", serde_json::to_string(&question).map_err(io::Error::other)?)?;
    }
    Ok(path)
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:=,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
