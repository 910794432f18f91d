"""The fewest records that what is told may stand for: one fewer is refused with what to change, none is no test."""

from protocols.two_party.inputs import Limits

LIMITS = Limits(max_classes=3, smallest_class=10, smallest_test=30)


def test_one_past_a_limit_is_refused_with_the_way_out() -> None:
    for accepted, refused, way_out in (
        (LIMITS.refuse_classes(3), LIMITS.refuse_classes(4), "merge values"),
        (LIMITS.refuse_counts([10, 50]), LIMITS.refuse_counts([9, 0, 51]), "merge them ([columns] max_values)"),
        (LIMITS.refuse_test(30), LIMITS.refuse_test(29), "test = 0"),
        (LIMITS.refuse_test(0), LIMITS.refuse_test(1), "test = 0"),
    ):
        assert accepted is None
        assert refused is not None
        assert way_out in refused
    assert (LIMITS.refuse_counts([9, 0, 51]) or "").startswith("2 of 3 class values have fewer than 10")
