//! Word documents made of their XML, and what becomes of them.
