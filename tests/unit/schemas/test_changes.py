"""A request that changes nothing is refused: it is most likely a mistake."""

import pytest
from marshmallow import ValidationError

from api.operator.accounts.schemas import AccountChanges
from api.operator.carriers.schemas import CarrierChanges
from api.operator.limits.schemas import LimitChanges, RuleChanges
from api.resources.me.schemas import ChangeMe
from api.resources.sends.schemas import SendChanges
from api.schemas.base import Changes

REASON = {"reason": "Ticket 4711: a customer asked"}


@pytest.mark.parametrize(
    ("schema", "nothing"),
    [
        pytest.param(AccountChanges, REASON, id="account"),
        pytest.param(CarrierChanges, REASON, id="carrier"),
        pytest.param(LimitChanges, REASON, id="limits"),
        pytest.param(RuleChanges, {}, id="rules"),
        pytest.param(ChangeMe, {}, id="person"),
        pytest.param(SendChanges, {"on_unicode": "send", "max_segments": 2}, id="send"),
    ],
)
def test_changes_of_nothing_are_refused(schema: type[Changes], nothing: dict[str, object]) -> None:
    for given in ({}, nothing):
        with pytest.raises(ValidationError) as refused:
            schema().load(given)
        assert isinstance(refused.value.messages, dict)
        assert refused.value.messages["code"] == "required"
        assert not any(f"`{name}`" in refused.value.messages["detail"] for name in nothing)


def test_one_change_is_enough() -> None:
    assert CarrierChanges().load({"rate": 5, **REASON}) == {"rate": 5, **REASON}
    assert ChangeMe().load({"name": "Ann"}) == {"name": "Ann"}
