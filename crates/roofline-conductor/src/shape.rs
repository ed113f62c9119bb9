//! What a visit is asked for.

use roofline_core::protocol::Ask;
use roofline_core::record::Course;
use std::time::Duration;

/// Launches that are not timed, samples, and launches of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub warmup: u32,
    pub samples: u32,
    pub batch: u32,
}

/// Times as many launches in visits of many.
pub const MANY: u32 = 8;

impl Shape {
    /// One launch, timed.
    pub const ONE: Shape = Shape { warmup: 0, samples: 1, batch: 1 };
    /// A conversation and nothing else.
    pub const EMPTY: Shape = Shape { warmup: 0, samples: 0, batch: 1 };

    pub fn new(warmup: u32, samples: u32, batch: u32) -> Shape {
        Shape { warmup, samples, batch }
    }

    /// One sample of `batch` launches.
    pub fn batch(batch: u32) -> Shape {
        Shape { warmup: 0, samples: 1, batch }
    }

    /// The same with twice the launches in as many samples: what a sample costs besides is alike.
    pub fn doubled(self) -> Shape {
        Shape { batch: 2 * self.batch, ..self }
    }

    /// The same with so many times the launches that what is hidden in a visit is a small part of each.
    pub fn multiplied(self) -> Shape {
        Shape { batch: MANY * self.batch, ..self }
    }

    /// Launches that are timed.
    pub fn timed(self) -> u32 {
        self.samples.saturating_mul(self.batch)
    }

    pub fn launches(self) -> u32 {
        self.warmup.saturating_add(self.timed())
    }

    /// As accounts keep it.
    pub fn key(self) -> (u32, u32, u32) {
        (self.warmup, self.samples, self.batch)
    }

    /// The most launches that follow one another without a pause.
    pub fn in_a_row(self) -> u32 {
        if self.samples > 0 { self.warmup.max(self.batch) } else { self.warmup }
    }

    pub fn ask(self) -> Ask {
        let Shape { warmup, samples, batch } = self;
        Ask::Visit { warmup, samples, batch }
    }
}

impl From<(u32, u32, u32)> for Shape {
    fn from((warmup, samples, batch): (u32, u32, u32)) -> Shape {
        Shape { warmup, samples, batch }
    }
}

impl From<Course> for Shape {
    fn from(course: Course) -> Shape {
        Shape { warmup: course.warmup, samples: course.samples, batch: course.batch }
    }
}

/// Launches that take about `length`.
pub fn batch_for(length: Duration, launch: Duration) -> u32 {
    let launch = launch.as_secs_f64().max(20e-9);
    (length.as_secs_f64() / launch).ceil().clamp(1.0, 1e6) as u32
}
