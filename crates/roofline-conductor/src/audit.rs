//! What a process used, read from the system and not from the process.

use std::collections::BTreeMap;
use std::fs::{DirEntry, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::Duration;

/// What each thread of a process has used up to one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    threads: BTreeMap<i32, Times>,
}

/// Time that a thread ran, and time that it could have run but had no core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    pub ran: Duration,
    pub waited: Duration,
}

impl Times {
    /// As the system writes them.
    fn parse(schedstat: &str) -> Option<Times> {
        let mut fields =
            schedstat.split_whitespace().map(|field| field.parse().ok().map(Duration::from_nanos));
        Some(Times { ran: fields.next()??, waited: fields.next()?? })
    }

    pub fn since(self, before: Times) -> Times {
        Times { ran: self.ran.saturating_sub(before.ran), waited: self.waited.saturating_sub(before.waited) }
    }
}

impl Usage {
    pub fn of(pid: i32) -> Usage {
        let of_thread = |task: DirEntry| {
            Some((
                task.file_name().to_str()?.parse().ok()?,
                Times::parse(&std::fs::read_to_string(task.path().join("schedstat")).ok()?)?,
            ))
        };
        Usage { threads: tasks(pid).filter_map(of_thread).collect() }
    }

    /// What each thread has used since `before`, the busiest first.
    pub fn since(&self, before: &Usage) -> Vec<Times> {
        let of_thread =
            |(tid, now): (&i32, &Times)| now.since(before.threads.get(tid).copied().unwrap_or_default());
        let mut used: Vec<Times> = self.threads.iter().map(of_thread).collect();
        used.sort_by_key(|times| std::cmp::Reverse(times.ran));
        used
    }
}

/// The threads of a process; none where there is no such process.
fn tasks(pid: i32) -> impl Iterator<Item = DirEntry> {
    std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten()
}

/// The system's account of one thread, kept open to be read often.
#[derive(Debug)]
pub struct Account(Option<File>);

impl Account {
    /// Of the first thread of a process.
    pub fn of(pid: i32) -> Account {
        Account(File::open(format!("/proc/{pid}/schedstat")).ok())
    }

    pub fn of_this_thread() -> Account {
        Account(File::open("/proc/thread-self/schedstat").ok())
    }

    /// All of it so far; nothing where the system does not say.
    pub fn read(&self) -> Times {
        let mut text = [0; 96];
        let length = self.0.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        std::str::from_utf8(&text[..length]).ok().and_then(Times::parse).unwrap_or_default()
    }
}

/// Threads that took part in work of length `wall`.
pub fn threads_at_work(used: &[Times], wall: Duration) -> u32 {
    // Below a twentieth of the wall time a thread kept house rather than worked.
    let least = wall / 20;
    used.iter().filter(|times| times.ran > least).count() as u32
}

/// Whether a thread of a process runs, or would if it had a core.
pub fn is_runnable(pid: i32) -> bool {
    tasks(pid).any(|task| is_in(&task, &['R']))
}

/// Whether no thread of a process goes on: all have been stopped, or have ended.
pub fn is_stopped(pid: i32) -> bool {
    tasks(pid).all(|task| is_in(&task, &['T', 't', 'Z', 'X']))
}

/// Whether a thread is in one of some states.
fn is_in(task: &DirEntry, states: &[char]) -> bool {
    let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
    // The state follows the name, which may hold anything.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(states))
}

/// Memory that a process holds for itself, in bytes: what it and all that came of it allocated, and what they share or
/// keep in files of memory beyond the tensors, of `given` bytes, that it was handed. What it left behind is with its
/// `warden`.
pub fn own_memory(pid: i32, warden: i32, given: u64) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let company = company(pid, warden);
    let rollup = |pid: &i32| std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let pages: Vec<String> = company.iter().map(rollup).collect();
    // Pages that a fork left to several are divided among them.
    let of_company = |name| pages.iter().filter_map(|pages| field(pages, name)).fold(0, u64::saturating_add);
    // Each of them may have the tensors mapped, which a fork inherits.
    let mapped = [field(&status, "RssShmem:").unwrap_or(0), of_company("Pss_Shmem:")];
    let mapped = mapped.into_iter().map(|bytes| bytes.saturating_sub(given)).fold(0, u64::saturating_add);
    let files = files_of_memory(std::iter::once(pid).chain(company.iter().copied()));
    let shared = mapped.max(files.saturating_sub(given));
    Some(field(&status, "RssAnon:")?.saturating_add(of_company("Pss_Anon:")).saturating_add(shared))
}

/// All that came of a process and lives on: what descends from it, and what was left to its warden.
fn company(pid: i32, warden: i32) -> Vec<i32> {
    let orphans = children_of(warden).into_iter().filter(|orphan| *orphan != pid);
    let mut found: Vec<i32> = std::iter::once(pid).chain(orphans).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = children_of(parent);
        found.extend(children);
        next += 1;
    }
    found.split_off(1)
}

/// Files of memory that some processes hold open, mapped or not, each once.
fn files_of_memory(pids: impl Iterator<Item = i32>) -> u64 {
    let fds =
        pids.flat_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten());
    let of_memory = fds.map(|fd| fd.path()).filter(|fd| {
        let target = std::fs::read_link(fd).unwrap_or_default();
        target.to_str().is_some_and(|target| target.starts_with("/memfd:"))
    });
    let sizes: BTreeMap<u64, u64> = of_memory
        .filter_map(|fd| std::fs::metadata(fd).ok())
        .map(|file| (file.ino(), file.blocks().saturating_mul(512)))
        .collect();
    sizes.values().fold(0, |sum, size| sum.saturating_add(*size))
}

/// Whether a thread of a process may run on another core than these.
pub fn leaves_cores(pid: i32, cores: &[u32]) -> bool {
    tasks(pid).any(|task| {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.is_some_and(|list| !is_within(list.trim(), cores))
    })
}

/// Whether a list of cores, such as `0-3,8`, names only some of these.
fn is_within(list: &str, cores: &[u32]) -> bool {
    list.split(',').all(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse().ok().zip(last.parse::<u32>().ok());
        range.is_some_and(|(first, last): (u32, u32)| (first..=last).all(|core| cores.contains(&core)))
    })
}

/// Living processes that descend directly from a process, by the table that the kernel keeps of each thread's
/// children; by a look at all processes where it keeps none.
pub fn children_of(parent: i32) -> Vec<i32> {
    let lists: Option<Vec<String>> =
        tasks(parent).map(|task| std::fs::read_to_string(task.path().join("children")).ok()).collect();
    let children: Vec<i32> = match lists {
        Some(lists) => lists.iter().flat_map(|list| list.split_whitespace()).flat_map(str::parse).collect(),
        None => parents().into_iter().filter(|(_, of)| *of == parent).map(|(pid, _)| pid).collect(),
    };
    children.into_iter().filter(|pid| living_parent(*pid).is_some()).collect()
}

/// Every living process with its parent.
pub fn parents() -> Vec<(i32, i32)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| Some((pid, living_parent(pid)?))).collect()
}

/// The parent of a process that has not ended.
fn living_parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name stands in parentheses and may hold anything.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?;
    fields.next()?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
}

/// Most memory that a process ever had resident, tensors included.
pub fn peak_memory(pid: i32) -> Option<u64> {
    field(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmHWM:")
}

/// A field of a process's status, which is in KiB, in bytes.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// How often threads of a process were taken off their cores against their will.
pub fn switches(pid: i32) -> Option<u64> {
    let of_thread = |task: DirEntry| -> Option<u64> {
        let status = std::fs::read_to_string(task.path().join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
        line.trim().parse().ok()
    };
    tasks(pid).filter_map(of_thread).reduce(u64::saturating_add)
}

/// What the machine has done up to one moment; nothing where the system does not say.
#[derive(Clone, Copy, Debug)]
pub struct Load(Option<Ticks>);

/// Time of all cores together, in ticks of the system.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    /// What the host gave to others, what was work, and all that passed.
    stolen: u64,
    busy: u64,
    all: u64,
    /// Work of this process and of those that it was asked to count in; `None` when one of them has ended.
    own: Option<u64>,
}

impl Load {
    /// Up to now, with these processes as well as this one as one's own.
    pub fn now(own: &[i32]) -> Load {
        let read = || {
            let stat = std::fs::read_to_string("/proc/stat").ok()?;
            let fields = stat.lines().next()?.split_whitespace().skip(1);
            let fields: Vec<u64> = fields.map_while(|field| field.parse().ok()).take(8).collect();
            // Guests are counted in user.
            let &[user, nice, system, _idle, _iowait, irq, softirq, stolen] = fields.as_slice() else {
                return None;
            };
            let me = i32::try_from(std::process::id()).ok()?;
            let own = own.iter().chain([&me]).map(|pid| ticks(*pid)).sum();
            let busy = user + nice + system + irq + softirq;
            Some(Ticks { stolen, busy, all: fields.iter().sum(), own })
        };
        Load(read())
    }

    /// Ticks since then that were stolen, and all that passed; and those that others worked.
    pub fn since(self, own: &[i32]) -> Option<((u64, u64), Option<u64>)> {
        let (then, now) = self.0.zip(Load::now(own).0)?;
        let ours = now.own.zip(then.own).map(|(now, then)| now.saturating_sub(then));
        let others = ours.map(|ours| now.busy.saturating_sub(then.busy).saturating_sub(ours));
        Some(((now.stolen.saturating_sub(then.stolen), now.all.checked_sub(then.all)?), others))
    }
}

/// Ticks that a process has worked.
fn ticks(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything; user and system time are the 14th and 15th field.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Internet sockets that a process holds open.
pub fn internet_sockets(pid: i32) -> usize {
    let inodes: Vec<String> = ["tcp", "tcp6", "udp", "udp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).ok())
        .flat_map(|table| {
            let lines =
                table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(9).map(str::to_owned));
            lines.collect::<Vec<_>>()
        })
        .collect();
    let Ok(fds) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return 0 };
    fds.flatten()
        .filter_map(|fd| std::fs::read_link(fd.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|target| target.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned))
        .filter(|inode| inodes.contains(inode))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_works_is_not_of_others() {
        let load = Load::now(&[]);
        let start = ticks(std::process::id() as i32).unwrap();
        while ticks(std::process::id() as i32).unwrap() < start + 20 {
            std::hint::black_box((0..10_000u64).sum::<u64>());
        }
        let ((_, passed), others) = load.since(&[]).unwrap();
        // On one core at least, twenty ticks of all that passed were ours.
        assert!(others.unwrap() + 20 <= passed + 2, "{others:?} of {passed}");
        assert_eq!(
            load.since(&[i32::MAX]).unwrap().1,
            None,
            "of a process that is not there nothing is known"
        );
    }

    #[test]
    fn work_shows_and_rest_does_not() {
        let me = std::process::id() as i32;
        let before = Usage::of(me);
        // Until enough has been used, however many others want the core.
        let start = std::time::Instant::now();
        let mut x = 1u64;
        let spent = || Usage::of(me).since(&before).iter().map(|times| times.ran).sum::<Duration>();
        while spent() < Duration::from_millis(5) && start.elapsed() < Duration::from_secs(20) {
            x = (0..100_000).fold(x, |x, _| x.wrapping_mul(6364136223846793005).wrapping_add(1));
        }
        assert_ne!(x, 0);
        assert!(spent() >= Duration::from_millis(5), "{:?}", spent());
        assert!(is_runnable(me) && !is_runnable(-1) && !is_stopped(me) && is_stopped(-1));
        assert!(own_memory(me, -1, u64::MAX).unwrap() > 0 && own_memory(-1, -1, 0).is_none());
        assert!(peak_memory(me).unwrap() > 0);
        assert!(switches(me).is_some() && switches(-1).is_none());
        assert_eq!(Usage::of(-1), Usage::default());
    }

    #[test]
    fn files_of_memory_count_whether_they_are_mapped_or_not() {
        let me = std::process::id() as i32;
        let of = |pid| files_of_memory(std::iter::once(pid));
        let before = of(me);
        let mut file =
            File::from(rustix::fs::memfd_create("hoard", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        let again = file.try_clone().unwrap();
        std::io::Write::write_all(&mut file, &vec![1; 3 << 20]).unwrap();
        assert_eq!(of(me) - before, 3 << 20);
        drop((file, again));
        assert_eq!(of(-1), 0);
    }

    #[test]
    fn lists_of_cores() {
        assert!(is_within("1", &[1]) && is_within("0-1,3", &[3, 1, 0]));
        assert!(!is_within("0-2", &[0, 1]) && !is_within("0,2", &[0, 1]) && !is_within("", &[0]));
        let all: Vec<u32> = (0..8192).collect();
        let me = std::process::id() as i32;
        assert!(!leaves_cores(me, &all) && leaves_cores(me, &[]) && !leaves_cores(-1, &[]));
    }

    #[test]
    fn children_are_seen_while_they_live() {
        let me = std::process::id() as i32;
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        assert!(children_of(me).contains(&pid) && parents().contains(&(pid, me)));
        assert!(company(me, -1).contains(&pid) && company(-1, me).contains(&pid));
        assert!(company(pid, me).iter().all(|other| *other != pid));
        child.kill().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        // Ended and not yet waited for is not running.
        while children_of(me).contains(&pid) {
            assert!(std::time::Instant::now() < deadline);
        }
        child.wait().unwrap();
        assert!(!children_of(me).contains(&pid) && children_of(-1).is_empty());
    }

    #[test]
    fn threads_below_a_twentieth_keep_house() {
        let ran = |ms| Times { ran: Duration::from_millis(ms), ..Times::default() };
        assert_eq!(threads_at_work(&[ran(100), ran(98), ran(1)], Duration::from_millis(100)), 2);
    }
}
