//! People: how they come in, what they may do, and what is left when they go.

mod administration;
mod deleted_people;
mod roles;
mod sharing;
pub mod sign_in;
mod tokens;
