//! What a person sets: the tree of keys, where it is loaded from, what is wrong with it.
