//! Work superseded by a newer request is stopped through its watch.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mercer::watch::Watch;

/// The time limit of one request.
const MOST_TIME: Duration = Duration::from_secs(30);

/// The most channels.
const MOST_CHANNELS: usize = 256;

/// The latest request of each channel: a page has one active request on each of its channels.
#[derive(Debug, Default)]
pub struct Turns {
    latest: Mutex<HashMap<String, Turn>>,
}

#[derive(Debug)]
struct Turn {
    number: u64,
    stop: Arc<AtomicBool>,
}

/// The watch of one request.
#[derive(Debug)]
pub struct Job {
    superseded: Arc<AtomicBool>,
    until: Instant,
}

impl Turns {
    /// Begins a request and stops the previous one on the same channel. `None` if a newer one has already begun.
    pub fn begin(&self, channel: &str, number: u64) -> Option<Job> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = latest.get(channel) {
            if turn.number > number {
                return None;
            }
            turn.stop.store(true, Ordering::Relaxed);
        } else if latest.len() >= MOST_CHANNELS {
            // Channels without running work.
            latest.retain(|_, turn| Arc::strong_count(&turn.stop) > 1);
        }
        let stop = Arc::new(AtomicBool::new(false));
        latest.insert(channel.to_owned(), Turn { number, stop: Arc::clone(&stop) });
        Some(Job { superseded: stop, until: Instant::now() + MOST_TIME })
    }
}

impl Job {
    /// The watch of work that no request supersedes.
    pub fn alone() -> Self {
        Self { superseded: Arc::default(), until: Instant::now() + 20 * MOST_TIME }
    }

    /// Whether a newer request has taken its place.
    pub fn is_superseded(&self) -> bool {
        self.superseded.load(Ordering::Relaxed)
    }
}

impl Watch for Job {
    fn stop_requested(&self) -> bool {
        self.is_superseded() || Instant::now() > self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_request_stops_the_one_before_it() {
        let turns = Turns::default();
        let first = turns.begin("page/fit", 1).unwrap();
        let other = turns.begin("page/check", 1).unwrap();
        assert!(!first.stop_requested());
        let second = turns.begin("page/fit", 3).unwrap();
        assert!(first.stop_requested() && first.is_superseded());
        assert!(!second.stop_requested() && !other.stop_requested());
        assert!(turns.begin("page/fit", 2).is_none());
    }

    #[test]
    fn idle_channels_are_forgotten() {
        let turns = Turns::default();
        let kept = turns.begin("kept", 1).unwrap();
        for i in 0..10 * MOST_CHANNELS {
            turns.begin(&i.to_string(), 1).unwrap();
        }
        assert!(turns.latest.lock().unwrap().len() <= MOST_CHANNELS + 1);
        turns.begin("kept", 2).unwrap();
        assert!(kept.is_superseded());
    }
}
