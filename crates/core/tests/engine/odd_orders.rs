//! What is read in an odd order, comes again, or may not be read.

use crate::dsl::{run, told};

/// Work is handed from one worker to another; the last instant is 22.0.
const HANDED_OVER: &str = "0.0 config connector foo
     0.0 config tasks foo 1
     0.1 ends
     1.0 group 1 sessioned a off=3 | a: claim=none add=foo,foo-0 | b: claim=none
     1.2 status foo RUNNING a 1
     1.3 status foo-0 RUNNING a 1
     1.5 ends
     20.0 group 2 sessioned a off=3 | a: claim=foo,foo-0 rev=foo-0 | b: claim=-
     20.1 status foo-0 UNASSIGNED a 1
     20.5 group 3 sessioned a off=3 | a: claim=foo | b: claim=- add=foo-0
     22.0 ends\n";

/// Timers wait for every topic: a start that is read late, while the group's own records are
/// known to be read, makes the same episode as one that is read at once.
#[test]
fn a_start_that_is_read_late() {
    let tail = "50.0 ends offsets\n 85.0 ends offsets\n 95.0 ends offsets\n";
    let end = "97.0 ends\n 98.0 ends\n 98.0 ";
    for what in ["costs", "disagreements"] {
        let at_once = "22.5 status foo-0 RUNNING b 3 stamped=22.4\n";
        let late = "96.0 status foo-0 RUNNING b 3 stamped=22.4\n";
        let at_once = run(&format!("{HANDED_OVER}{at_once}{tail}{end}{what}"));
        let late = run(&format!("{HANDED_OVER}{tail}{late}{end}{what}"));
        assert_eq!(at_once, late);
    }
    let late = "96.0 status foo-0 RUNNING b 3 stamped=22.4\n";
    let story = run(&format!("{HANDED_OVER}{tail}{late}{end}story"));
    let is_it = |line: &&str| line.starts_with("episode 2-3");
    let episode: Vec<&str> = story.lines().filter(is_it).collect();
    assert_eq!(
        episode,
        ["episode 2-3 settled 20..22.4 active 2.4+ parked 0"]
    );
}

/// An address that comes again is one subject of a pattern.
#[test]
fn an_address_that_comes_again() {
    let printed = run(
        "0.0 config connector foo
         0.0 config tasks foo 3
         0.1 ends
         1.0 group 1 sessioned z off=5 | a: claim=none add=foo-0 | c: claim=none add=foo-1 | z: claim=none add=foo,foo-2
         1.2 status foo RUNNING z 1
         1.2 status foo-2 RUNNING z 1
         1.3 status foo-0 RUNNING a 1
         1.3 status foo-1 RUNNING c 1
         1.5 ends
         19.0 status foo-0 UNASSIGNED a 1
         20.0 group 2 sessioned z off=5 delay=30000 join=19.5 | c: claim=foo-1 | z: claim=foo,foo-2
         25.0 group 3 sessioned z off=5 delay=25000 | c: claim=foo-1 | d host=192.0.2.9: claim=none | z: claim=foo,foo-2
         50.0 group 4 sessioned z off=5 | c: claim=foo-1 | d host=192.0.2.9: claim=- add=foo-0 | z: claim=foo,foo-2
         50.4 status foo-0 RUNNING d 4
         52.0 ends
         69.0 status foo-1 UNASSIGNED c 4
         70.0 group 5 sessioned z off=5 delay=30000 join=69.5 | d host=192.0.2.9: claim=foo-0 | z: claim=foo,foo-2
         75.0 group 6 sessioned z off=5 delay=25000 | a#2 host=192.0.2.7: claim=none | d host=192.0.2.9: claim=foo-0 | z: claim=foo,foo-2
         100.0 group 7 sessioned z off=5 | a#2 host=192.0.2.7: claim=- add=foo-1 | d host=192.0.2.9: claim=foo-0 | z: claim=foo,foo-2
         100.4 status foo-1 RUNNING a 7
         102.0 ends
         119.0 status foo-1 UNASSIGNED a 7
         120.0 group 8 sessioned z off=5 delay=30000 join=119.5 | d host=192.0.2.9: claim=foo-0 | z: claim=foo,foo-2
         125.0 group 9 sessioned z off=5 delay=25000 | d host=192.0.2.9: claim=foo-0 | e host=192.0.2.11: claim=none | z: claim=foo,foo-2
         150.0 group 10 sessioned z off=5 | d host=192.0.2.9: claim=foo-0 | e host=192.0.2.11: claim=- add=foo-1 | z: claim=foo,foo-2
         150.4 status foo-1 RUNNING e 10
         152.0 ends
         160.0 ends
         160.0 pattern",
    );
    assert_eq!(told(&printed, "pattern")[0], "pattern rollout a:8083");
}

/// Where it is hidden what is configured nothing is held against the group: absent, not zero.
#[test]
fn a_hidden_topic_and_disagreements() {
    for topic in ["config", "status"] {
        let printed = run(&format!(
            "{HANDED_OVER}22.5 status foo-0 RUNNING b 3
             23.0 access {topic} denied
             24.0 ends
             24.0 disagreements"
        ));
        assert_eq!(printed.lines().last(), Some("disagreements unknown"));
    }
}
