"""The kinds of model that two parties may end with."""

from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree

Model = Tree | NaiveBayes
