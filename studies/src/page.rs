//! A page of results that is made in one go: its title, how it was made, and what was found.

use crate::facts::facts;
use roofline_conductor::machine::Machine;
use std::io;
use std::path::Path;

/// Writes `results/MACHINE/NAME.md` and returns it.
pub(crate) fn publish(name: &str, title: &str, command: &str, text: &str) -> io::Result<String> {
    let machine = Machine::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut page = format!("# {title}\n\n");
    for (name, value) in facts(&machine, &root, command) {
        page += &format!("- {name}: {value}\n");
    }
    page += &format!("\n{text}");
    let folder = root.join("results").join(machine.fingerprint());
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("{name}.md")), &page)?;
    Ok(page)
}
