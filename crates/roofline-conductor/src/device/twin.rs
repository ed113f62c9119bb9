//! The tensors of an instance on a device, beside their mirrors in the conductor's files.
//!
//! What is written to a mirror goes to the device in one question before the next launch ([`Twin::send`]); what is to
//! be looked at comes back into the mirror ([`Twin::fetch`]). A process that fails says so itself
//! ([`Process::fault`](super::Process::fault)): rows are stopped by that, and what was read is judged by nobody.

use super::process::{Fault, Owner};
use roofline_core::protocol::device::{Done, Facts, Part, Step};
use std::cell::RefCell;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// More parts than this of one tensor go as the whole of it.
const MANY: usize = 1 << 16;
/// Parts that lie no further apart go as one.
const NEAR: u64 = 64;

/// Device memory of every tensor of an instance, in the order of its files.
#[derive(Debug)]
pub struct Twin {
    owner: Owner,
    tensors: Vec<Made>,
    /// Written to mirrors and not yet sent.
    waiting: RefCell<Vec<(usize, Part)>>,
}

#[derive(Debug)]
struct Made {
    number: u32,
    file: OwnedFd,
    size: u64,
}

impl Twin {
    /// Makes memory for mirrors of these sizes.
    pub fn new<'f>(owner: Owner, mirrors: impl Iterator<Item = (BorrowedFd<'f>, usize)>) -> io::Result<Twin> {
        let mut twin = Twin { owner, tensors: Vec::new(), waiting: RefCell::default() };
        for (mirror, size) in mirrors {
            let size = size as u64;
            let asked = twin.owner.borrow_mut().ask(&[Step::Make { size }], &[mirror]);
            let (done, mut files) = asked.map_err(|fault| match fault {
                Fault::OutOfMemory(why) => io::Error::new(io::ErrorKind::OutOfMemory, why),
                Fault::Failed(why) => io::Error::other(why),
            })?;
            let (Some(Done::Made(number)), Some(file)) = (done.first(), files.pop()) else {
                return Err(io::Error::other("the device process made no tensor"));
            };
            twin.tensors.push(Made { number: *number, file, size });
        }
        Ok(twin)
    }

    pub fn facts(&self) -> Facts {
        self.owner.borrow().facts.clone()
    }

    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        self.tensors.iter().map(|made| made.file.as_fd()).collect()
    }

    /// Notes that a mirror has new bytes.
    pub fn wrote(&self, tensor: usize, range: Range<usize>) {
        if !range.is_empty() {
            self.waiting.borrow_mut().push((tensor, (range.start as u64, range.len() as u64)));
        }
    }

    /// Takes what mirrors were given to the device.
    pub fn send(&self) {
        let mut waiting = std::mem::take(&mut *self.waiting.borrow_mut());
        waiting.sort_unstable();
        let steps: Vec<Step> = waiting
            .chunk_by(|one, next| one.0 == next.0)
            .map(|parts| {
                let made = &self.tensors[parts[0].0];
                let parts = parts.iter().map(|(_, part)| *part);
                Step::Push { tensor: made.number, parts: joined(parts, made.size, 0) }
            })
            .collect();
        self.ask(&steps);
    }

    /// Brings parts of a tensor, in ascending order, to its mirror.
    pub fn fetch(&self, tensor: usize, parts: impl Iterator<Item = Range<usize>>) {
        self.fetch_all(std::iter::once((tensor, parts)));
    }

    /// The same of several tensors, in one question.
    pub fn fetch_all<P: Iterator<Item = Range<usize>>>(&self, wanted: impl Iterator<Item = (usize, P)>) {
        self.send();
        let steps: Vec<Step> = wanted
            .map(|(tensor, parts)| {
                let made = &self.tensors[tensor];
                let parts = parts.map(|range| (range.start as u64, range.len() as u64));
                Step::Pull { tensor: made.number, parts: joined(parts, made.size, NEAR) }
            })
            .collect();
        self.ask(&steps);
    }

    /// An element again and again, on the device alone.
    pub fn repeat(&self, tensor: usize, range: Range<usize>, code: &[u8]) {
        self.send();
        let count = (range.len() / code.len()) as u64;
        let tensor = self.tensors[tensor].number;
        self.ask(&[Step::Repeat { tensor, start: range.start as u64, code: code.to_vec(), count }]);
    }

    /// Hashes of parts of tensors.
    pub fn hashes(&self, wanted: impl Iterator<Item = (usize, Range<usize>)>) -> Vec<u64> {
        self.send();
        let hash = |(tensor, range): (usize, Range<usize>)| Step::Hash {
            tensor: self.tensors[tensor].number,
            part: (range.start as u64, range.len() as u64),
        };
        let steps: Vec<Step> = wanted.map(hash).collect();
        let hashes = self.ask(&steps).into_iter().map(|done| match done {
            Done::Hash(hash) => hash,
            _ => 0,
        });
        hashes.collect()
    }

    /// The first element of a part that has exactly these bytes.
    pub fn find(&self, tensor: usize, range: Range<usize>, code: &[u8]) -> Option<usize> {
        self.send();
        let count = (range.len() / code.len()) as u64;
        let tensor = self.tensors[tensor].number;
        let step = Step::Find { tensor, start: range.start as u64, code: code.to_vec(), count };
        match self.ask(&[step]).pop() {
            Some(Done::Found(found)) => found.map(|index| index as usize),
            _ => None,
        }
    }

    /// Empties the device's caches.
    pub fn chill(&self) {
        self.ask(&[Step::Chill]);
    }

    fn ask(&self, steps: &[Step]) -> Vec<Done> {
        if steps.is_empty() {
            return Vec::new();
        }
        // What fails is kept there, and looked at where rows are.
        self.owner.borrow_mut().ask(steps, &[]).map(|(done, _)| done).unwrap_or_default()
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        let steps: Vec<Step> = self.tensors.iter().map(|made| Step::Drop { tensor: made.number }).collect();
        self.ask(&steps);
    }
}

/// Ascending parts, those that touch or lie near made one; the whole tensor where they are too many.
fn joined(parts: impl Iterator<Item = Part>, size: u64, near: u64) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for (start, length) in parts {
        match joined.last_mut() {
            Some((first, all)) if start <= *first + *all + near => {
                *all = (*all).max(start + length - *first);
            }
            _ => joined.push((start, length)),
        }
    }
    if joined.len() > MANY { vec![(0, size)] } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_are_one() {
        let parts = [(0, 4), (4, 4), (100, 4), (102, 8), (500, 1)];
        assert_eq!(joined(parts.into_iter(), 1000, 0), [(0, 8), (100, 10), (500, 1)]);
        assert_eq!(joined(parts.into_iter(), 1000, 95), [(0, 110), (500, 1)]);
        let many = (0..2 * MANY as u64).map(|i| (8 * i, 1));
        assert_eq!(joined(many, 1 << 30, 0), [(0, 1 << 30)]);
    }
}
