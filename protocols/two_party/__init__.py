"""A whole run of two parties as one role: agreement, disguised copies, encryption, tree, equal models."""
