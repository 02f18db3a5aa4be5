//! Limit on the requests of each person, which several servers of one database count together.
//!
//! A server counts what comes to it, and once a second notifies the others about people with more
//! than a few requests. Nothing here waits for them. What a person has asked for elsewhere can
//! exceed what is left of their burst: then it is owed, and they wait for longer.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copydesk_ids::UserId;
use parking_lot::Mutex;

/// Limits of the APIs.
#[derive(Clone, Debug)]
pub struct RequestLimits {
    /// Limit of the REST API.
    pub rest: RequestLimit,
    /// Limit of the Messages API.
    pub messages: RequestLimit,
}

/// Limit on the requests of each person to one API. Clones share the counts.
#[derive(Clone, Debug)]
pub struct RequestLimit(Arc<LimitInner>);

#[derive(Debug)]
struct LimitInner {
    rate: RequestRate,
    people: Mutex<CountedPeople>,
}

/// Number of requests that one person may make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRate {
    /// Maximum in a burst.
    pub(crate) burst: NonZeroU32,
    /// Sustained number per second.
    pub(crate) per_second: NonZeroU32,
}

/// Request that was counted, and can be taken back.
#[derive(Clone, Debug)]
pub struct CountedRequest {
    limit: RequestLimit,
    user: UserId,
}

#[derive(Debug)]
struct CountedPeople {
    people: HashMap<UserId, PersonRequests>,
    /// Number of people above which those are forgotten who have not asked for long.
    many: usize,
}

#[derive(Debug)]
struct PersonRequests {
    /// Time at which their whole burst is free again.
    free_at: Instant,
    /// Requests to this server that no other one knows of; negative after some were taken back.
    untold: i64,
    /// Time until which [`Self::untold`] is remembered.
    untold_until: Instant,
}

/// Smallest value of [`CountedPeople::many`].
const MANY_PEOPLE: usize = 1_024;
/// Requests of one person to the REST API.
const REST: RequestRate = RequestRate {
    burst: NonZeroU32::new(1_000).unwrap(),
    per_second: NonZeroU32::new(100).unwrap(),
};
/// Requests of one person to the Messages API.
const MESSAGES: RequestRate =
    RequestRate { burst: REST.burst, per_second: NonZeroU32::new(200).unwrap() };

impl Default for RequestLimits {
    fn default() -> Self {
        Self { rest: RequestLimit::new(REST), messages: RequestLimit::new(MESSAGES) }
    }
}

impl RequestRate {
    fn interval(self) -> Duration {
        Duration::from_secs(1) / self.per_second.get()
    }

    fn whole(self) -> Duration {
        self.interval() * self.burst.get()
    }

    /// Returns the smallest number of requests of one person that other servers are notified of:
    /// those of a tenth of a second.
    fn least_told(self) -> u32 {
        self.per_second.get().div_ceil(10)
    }
}

impl RequestLimit {
    pub(crate) fn new(rate: RequestRate) -> Self {
        let people = Mutex::new(CountedPeople { people: HashMap::new(), many: MANY_PEOPLE });
        Self(Arc::new(LimitInner { rate, people }))
    }

    pub(crate) fn rate(&self) -> RequestRate {
        self.0.rate
    }

    /// Counts a request of a person to this server.
    ///
    /// # Errors
    /// The time after which the person may ask again, if they have asked too much.
    pub(crate) fn count(&self, user: &UserId) -> Result<CountedRequest, Duration> {
        self.count_at(user, Instant::now())?;
        Ok(CountedRequest { limit: self.clone(), user: user.clone() })
    }

    fn count_at(&self, user: &UserId, now: Instant) -> Result<(), Duration> {
        let rate = self.0.rate;
        let mut people = self.0.people.lock();
        people.tidy(now);
        let person = people.find(user, now);
        let free_at = person.free_at.max(now) + rate.interval();
        if let Some(wait) = free_at.checked_duration_since(now + rate.whole())
            && !wait.is_zero()
        {
            return Err(wait);
        }
        person.free_at = free_at;
        person.untold += 1;
        person.untold_until = now + rate.whole();
        Ok(())
    }

    /// Counts the requests that people have made to another server.
    pub fn count_elsewhere(&self, people: &[(UserId, u32)]) {
        self.count_elsewhere_at(people, Instant::now());
    }

    fn count_elsewhere_at(&self, told: &[(UserId, u32)], now: Instant) {
        let rate = self.0.rate;
        let mut people = self.0.people.lock();
        people.tidy(now);
        for (user, count) in told {
            let person = people.find(user, now);
            let count = (*count).min(2 * rate.burst.get());
            let free_at = person.free_at.max(now) + rate.interval() * count;
            // A debt is at most a burst: people would wait for longer than they expect.
            person.free_at = free_at.min(now + 2 * rate.whole());
        }
    }

    /// Returns the people about whom the other servers are to be notified, with the numbers of
    /// their requests since the last time. Fewer requests are remembered for the next time.
    pub fn take_untold(&self) -> Vec<(UserId, u32)> {
        self.take_untold_at(Instant::now())
    }

    fn take_untold_at(&self, now: Instant) -> Vec<(UserId, u32)> {
        let least = self.0.rate.least_told();
        let mut people = self.0.people.lock();
        people.forget_idle(now);
        let untold = people.people.iter_mut().filter_map(|(user, person)| {
            let count = u32::try_from(person.untold).ok().filter(|count| *count >= least)?;
            person.untold = 0;
            Some((user.clone(), count))
        });
        untold.collect()
    }

    fn uncount(&self, user: &UserId) {
        let interval = self.0.rate.interval();
        if let Some(person) = self.0.people.lock().people.get_mut(user) {
            person.free_at = person.free_at.checked_sub(interval).unwrap_or(person.free_at);
            person.untold -= 1;
        }
    }
}

impl CountedRequest {
    /// Takes the request back, because another server counts it.
    pub fn uncount(&self) {
        self.limit.uncount(&self.user);
    }
}

impl CountedPeople {
    fn find(&mut self, user: &UserId, now: Instant) -> &mut PersonRequests {
        let nothing = || PersonRequests { free_at: now, untold: 0, untold_until: now };
        self.people.entry(user.clone()).or_insert_with(nothing)
    }

    /// Forgets people who have not asked for long, if there are many.
    fn tidy(&mut self, now: Instant) {
        if self.people.len() >= self.many {
            self.forget_idle(now);
            self.many = MANY_PEOPLE.max(2 * self.people.len());
        }
    }

    fn forget_idle(&mut self, now: Instant) {
        self.people.retain(|_, person| {
            person.free_at > now || (person.untold != 0 && person.untold_until > now)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Two servers, and the time.
    struct TwoServers {
        limits: [RequestLimit; 2],
        now: Instant,
    }

    impl TwoServers {
        fn start() -> Self {
            let limits = [RequestLimits::default().rest, RequestLimits::default().rest];
            Self { limits, now: Instant::now() }
        }

        /// Returns how many of so many requests at once a server admits.
        fn admits(&self, server: usize, user: &str, requests: u32) -> u32 {
            let user = UserId::from(user);
            let admitted = (0..requests)
                .filter(|_| self.limits[server].count_at(&user, self.now).is_ok())
                .count();
            u32::try_from(admitted).unwrap()
        }

        /// Time passes, and each server tells the other.
        fn pass(&mut self, time: Duration) {
            self.now += time;
            let [one, other] = &self.limits;
            let told = [one, other].map(|limit| limit.take_untold_at(self.now));
            other.count_elsewhere_at(&told[0], self.now);
            one.count_elsewhere_at(&told[1], self.now);
        }

        /// Returns how long a person has to wait at a server.
        fn wait(&self, server: usize, user: &str) -> Option<Duration> {
            self.limits[server].count_at(&user.into(), self.now).err()
        }
    }

    #[test]
    fn a_burst_is_admitted_then_what_becomes_free_and_no_one_else_is_concerned() {
        let mut servers = TwoServers::start();
        assert_eq!(servers.admits(0, "ana", 2_000), 1_000);
        assert_eq!(servers.wait(0, "ana"), Some(Duration::from_millis(10)));
        assert_eq!(servers.admits(0, "ben", 1), 1);
        servers.now += SECOND;
        assert_eq!(servers.admits(0, "ana", 2_000), 100);
        servers.now += 60 * SECOND;
        assert_eq!(servers.admits(0, "ana", 2_000), 1_000);
    }

    #[test]
    fn what_one_server_admits_counts_on_the_other() {
        let mut servers = TwoServers::start();
        assert_eq!(servers.admits(0, "ana", 600), 600);
        servers.pass(Duration::ZERO);
        assert_eq!(servers.admits(1, "ana", 2_000), 400);
        servers.pass(Duration::ZERO);
        assert_eq!((servers.admits(0, "ana", 1), servers.admits(1, "ben", 2_000)), (0, 1_000));
        servers.pass(SECOND);
        assert_eq!(servers.admits(0, "ana", 2_000), 100);
    }

    #[test]
    fn who_asks_two_servers_for_more_than_they_may_gets_it_once_in_the_long_run() {
        let mut servers = TwoServers::start();
        let mut admitted = 0;
        for _ in 0..60 {
            admitted += servers.admits(0, "ana", 500) + servers.admits(1, "ana", 500);
            servers.pass(SECOND);
        }
        // The burst, what became free in a minute, and what came before the others knew.
        assert!((6_000..=7_200).contains(&admitted), "{admitted}");
    }

    #[test]
    fn what_is_owed_is_at_most_a_burst() {
        let servers = TwoServers::start();
        let many = [(UserId::from("ana"), u32::MAX)];
        for _ in 0..3 {
            servers.limits[0].count_elsewhere_at(&many, servers.now);
        }
        let wait = servers.wait(0, "ana").unwrap();
        assert_eq!(wait, 10 * SECOND + Duration::from_millis(10));
    }

    #[test]
    fn a_few_requests_are_told_once_they_are_more() {
        let mut servers = TwoServers::start();
        let tell = |servers: &TwoServers| servers.limits[0].take_untold_at(servers.now);
        assert_eq!(servers.admits(0, "ana", 9), 9);
        assert!(tell(&servers).is_empty());
        servers.now += 5 * SECOND;
        assert_eq!(servers.admits(0, "ana", 2), 2);
        assert_eq!(tell(&servers), [("ana".into(), 11)]);
        assert!(tell(&servers).is_empty());
    }

    #[test]
    fn a_request_that_is_taken_back_does_not_count_here_nor_elsewhere() {
        let (mut servers, ana) = (TwoServers::start(), UserId::from("ana"));
        assert_eq!(servers.admits(0, "ana", 1_000), 1_000);
        let limit = servers.limits[0].clone();
        let counted = CountedRequest { limit, user: ana.clone() };
        (0..500).for_each(|_| counted.uncount());
        servers.pass(Duration::ZERO);
        assert_eq!((servers.admits(0, "ana", 1_000), servers.admits(1, "ana", 1)), (500, 1));
        servers.pass(Duration::ZERO);
        // What the others know already is made up for.
        (0..20).for_each(|_| counted.uncount());
        servers.admits(0, "ana", 20);
        assert!(servers.limits[0].take_untold_at(servers.now).is_empty());
    }

    #[test]
    fn who_does_not_ask_is_forgotten() {
        let mut servers = TwoServers::start();
        let count = |servers: &TwoServers| servers.limits[0].0.people.lock().people.len();
        for number in 0..MANY_PEOPLE {
            servers.admits(0, &format!("person {number}"), 1);
        }
        assert_eq!(count(&servers), MANY_PEOPLE);
        servers.now += 11 * SECOND;
        servers.admits(0, "ana", 1);
        assert_eq!(count(&servers), 1, "also where no one is told");
        servers.limits[0].count_elsewhere_at(&[("ben".into(), 1)], servers.now);
        servers.now += 11 * SECOND;
        assert_eq!((servers.limits[0].take_untold_at(servers.now), count(&servers)), (vec![], 0));
    }
}
