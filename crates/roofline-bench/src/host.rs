//! The bench binary as a runner: its entries under the name of the bench, or under that of a baseline.

use roofline_protocol::messages::{VERSION, cpu};
use roofline_protocol::names::bare;
use roofline_runner::{Entry, Hello, Job, Offer, Ready, Refusal, Runner, unsupported};
use std::collections::BTreeMap;

pub(crate) struct Host {
    /// What the names of its implementations begin with.
    pub(crate) provider: String,
    pub(crate) version: String,
    pub(crate) entries: Vec<Entry>,
}

impl Runner for Host {
    fn hello(&self) -> Hello {
        let offer = |entry: &Entry| Offer {
            implementation: format!("{}/{}", self.provider, bare(entry.implementation)),
            ..entry.offer()
        };
        Hello {
            protocol: VERSION,
            runner: self.provider.clone(),
            version: self.version.clone(),
            devices: cpu(),
            offers: self.entries.iter().map(offer).collect(),
            operations: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    fn prepare(&mut self, mut job: Job) -> Result<Ready, Refusal> {
        let (form, name, precision) = (job.form(), bare(&job.implementation), job.precision());
        // A generic kernel has an entry for each of its types.
        let fits = |entry: &&Entry| {
            entry.operation == form
                && bare(entry.implementation) == name
                && entry.offer().dtypes.contains(&precision)
        };
        let entry = self.entries.iter().find(fits).copied();
        let entry = entry.ok_or_else(|| unsupported(format!("`{name}` has no `{form}` in {precision}")))?;
        (entry.prepare)(&mut job)
    }
}
