//! Floor four: what happened and why.

pub mod barrier;
pub mod causes;
pub mod config_log;
pub mod departures;
pub mod disagreements;
pub mod downtime;
pub mod episodes;
pub mod findings;
pub mod habits;
pub mod losses;
pub mod needs;
pub mod pattern;
pub mod recent;
pub mod rounds;
pub mod sign;
pub mod skew;
pub mod status_log;
pub mod steps;
pub mod switches;
