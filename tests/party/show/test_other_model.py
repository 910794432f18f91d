"""What `serve` says where joint predictions would use another model than the one that it has written."""

from pathlib import Path

from party.show.prediction import other_model_lines


def test_a_model_beside_an_earlier_one_is_told_how_predictions_get_it() -> None:
    offered = Path("alice/model.json")
    assert other_model_lines(offered, offered) == []
    (line,) = other_model_lines(Path("alice/model-2.json"), offered)
    assert line == 'Joint predictions use alice/model.json: for this one say [predict] model = "model-2.json"'
