//! Beginning and end of the marks in a row of words.

use super::segments::{InlineMark, Segment};

/// First and last segments of each mark of each segment.
pub struct Stretches {
    starts: [Vec<usize>; 4],
    ends: [Vec<usize>; 4],
}

impl Stretches {
    /// Finds the stretches of all marks.
    pub fn of(segments: &[Segment]) -> Self {
        let count = segments.len();
        let continues =
            |mark, at: usize| segments[at - 1].marks.continues(segments[at].marks, mark);
        let starts = InlineMark::ALL.map(|mark| {
            let mut starts: Vec<usize> = (0..count).collect();
            for at in 1..count {
                if continues(mark, at) {
                    starts[at] = starts[at - 1];
                }
            }
            starts
        });
        let ends = InlineMark::ALL.map(|mark| {
            let mut ends: Vec<usize> = (1..=count).collect();
            for at in (1..count).rev() {
                if continues(mark, at) {
                    ends[at - 1] = ends[at];
                }
            }
            ends
        });
        Self { starts, ends }
    }

    /// Returns the index of the first segment of a mark that a segment carries.
    pub fn start(&self, mark: InlineMark, segment: usize) -> usize {
        self.starts[mark as usize][segment]
    }

    /// Returns the index of the first segment behind a mark that a segment carries.
    pub fn end(&self, mark: InlineMark, segment: usize) -> usize {
        self.ends[mark as usize][segment]
    }
}
