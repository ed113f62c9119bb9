//! The machine for people: one fact a line, aligned.

use super::{Frequency, Machine, Processor, Virtualization};
use std::fmt;

const NOT_VISIBLE: &str = "not visible";

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines();
        let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, fact) in lines {
            writeln!(f, "{name:width$}  {fact}")?;
        }
        Ok(())
    }
}

impl Machine {
    fn lines(&self) -> Vec<(String, String)> {
        let Machine { processor, frequency, memory, system, compiler } = self;
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut line = |name: &str, fact: String| lines.push((name.to_string(), fact));

        line("fingerprint", self.fingerprint());
        line("processor", show(&processor.name));
        line("model", model(processor));
        line("microcode", show(&processor.microcode));
        line("cores", cores(processor));
        line("memory nodes", show(&processor.nodes));
        if processor.caches.is_empty() {
            line("caches", NOT_VISIBLE.to_string());
        }
        for cache in &processor.caches {
            line(
                &format!("cache L{}{}", cache.level, cache.kind),
                format!("{} × {}, shared by {}", cache.count, cache.size, plural(cache.shared_by, "thread")),
            );
        }
        let sets = processor.instructions.sets.as_ref();
        line("instruction sets", sets.map_or(NOT_VISIBLE.to_string(), |sets| or_none(sets.join(" "))));
        line("tile unit", show(&processor.instructions.tiles));
        line("governor", governors(frequency));
        line("turbo", on_or_off(frequency.turbo));
        line("memory", show(&memory.total));
        line("page size", show(&memory.page_size));
        line("huge pages", show(&memory.transparent_huge_pages));
        line("shared huge pages", show(&memory.shared_huge_pages));
        let reserved = memory.huge_pages.zip(memory.huge_page_size);
        line(
            "reserved huge pages",
            reserved.map_or(NOT_VISIBLE.to_string(), |(count, size)| format!("{count} × {size}")),
        );
        line("kernel", show(&system.kernel));
        line("hypervisor", hypervisor(system.virtualization.as_ref()));
        line(
            "CPU quota",
            system.quota.map_or("none seen".to_string(), |quota| format!("{quota:.2} processors")),
        );
        line(
            "load",
            system.load.map_or(NOT_VISIBLE.to_string(), |[one, five, fifteen]| {
                format!("{one:.2} {five:.2} {fifteen:.2} (1, 5, 15 minutes)")
            }),
        );
        line("clock source", show(&system.clock_source));
        line("clock reading", show(&system.clock_reading));
        line("compiler", show(&compiler.version));
        line("target", show(&compiler.target));
        line("target features", or_none(compiler.features.join(" ")));
        line("opt-level", show(&compiler.opt_level));
        line("compiler flags", compiler.flags.clone().unwrap_or_else(|| "none".to_string()));
        lines
    }
}

fn show<T: fmt::Display>(fact: &Option<T>) -> String {
    fact.as_ref().map_or(NOT_VISIBLE.to_string(), T::to_string)
}

fn model(processor: &Processor) -> String {
    let number = |name: &str, number: Option<u32>| format!("{name} {}", show(&number));
    format!(
        "{}, {}, {}, {}",
        processor.vendor.as_deref().unwrap_or("vendor not visible"),
        number("family", processor.family),
        number("model", processor.model),
        number("stepping", processor.stepping)
    )
}

fn cores(processor: &Processor) -> String {
    let counted = |count: Option<u32>, noun: &str| match count {
        Some(count) => plural(count, noun),
        None => format!("{noun}s {NOT_VISIBLE}"),
    };
    let mut fact = format!(
        "{}, {} online, {}, SMT {}",
        counted(processor.cores, "core"),
        counted(processor.threads, "thread"),
        counted(processor.sockets, "socket"),
        on_or_off(processor.smt)
    );
    if let Some(allowed) = processor.allowed_threads.filter(|&allowed| Some(allowed) != processor.threads) {
        fact += &format!(", {} allowed", plural(allowed, "thread"));
    }
    fact
}

fn governors(frequency: &Frequency) -> String {
    if frequency.governors.is_empty() { NOT_VISIBLE.to_string() } else { frequency.governors.join(", ") }
}

fn hypervisor(virtualization: Option<&Virtualization>) -> String {
    match virtualization {
        Some(Virtualization::Bare) => "none seen".to_string(),
        Some(Virtualization::Guest(Some(name))) => name.clone(),
        Some(Virtualization::Guest(None)) => "yes, without a name".to_string(),
        None => NOT_VISIBLE.to_string(),
    }
}

fn on_or_off(state: Option<bool>) -> String {
    match state {
        Some(true) => "on".to_string(),
        Some(false) => "off".to_string(),
        None => NOT_VISIBLE.to_string(),
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() { "none".to_string() } else { text }
}

fn plural(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
