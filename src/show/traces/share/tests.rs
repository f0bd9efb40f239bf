//! Whose turn it is.

use std::sync::Arc;

use super::is_ours;
use crate::config::TraceCopies;
use crate::show::sample::killed;

#[test]
fn the_leader_of_the_closing_generation_sends_and_its_deputy_where_two_do() {
    let mut episode = killed();
    let round = |leader: Option<&str>, deputy: Option<&str>| {
        let mut round = killed().rounds.remove(0);
        round.leader = leader.map(Arc::from);
        round.deputy = deputy.map(Arc::from);
        round
    };
    episode.rounds = vec![round(Some("a"), Some("b")), round(Some("b"), Some("c"))];
    let turn = |episode: &_, own, copies| is_ours(episode, own, copies);
    for (own, one, two) in [("a", false, false), ("b", true, true), ("c", false, true)] {
        assert_eq!(turn(&episode, Some(own), TraceCopies::One), one, "{own}");
        assert_eq!(turn(&episode, Some(own), TraceCopies::Two), two, "{own}");
        assert!(turn(&episode, Some(own), TraceCopies::All));
    }
    assert!(!turn(&episode, None, TraceCopies::Two));
    assert!(turn(&episode, None, TraceCopies::All));
    // Nobody is left to lead the round that emptied the group.
    episode.rounds.push(round(None, None));
    assert!(turn(&episode, Some("b"), TraceCopies::One));
    episode.rounds = vec![round(None, None)];
    assert!(!turn(&episode, Some("b"), TraceCopies::One));
}
