//! State after a power cut.

mod crash;
mod power_cuts;
