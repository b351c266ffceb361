//! The Gram matrix as an operator: apply it, read a block of it, never hold more of it than asked.
