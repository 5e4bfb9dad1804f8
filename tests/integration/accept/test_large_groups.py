"""One account prices few large groups at once, and no thread waits for another's."""

import pytest

from api.limits import large_groups
from api.limits.large_groups import LargeGroups
from api.problems import Problem
from tests.harness.service import Service


def test_an_account_prices_few_at_once_without_affecting_others() -> None:
    groups = LargeGroups()
    with groups.reading(1, 300_000), groups.reading(1, 50_000), groups.reading(1, 10), groups.reading(2, 300_000):
        with pytest.raises(Problem) as refused, groups.reading(1, 300_000):
            pass
        assert (refused.value.kind.status, refused.value.headers["Retry-After"]) == (429, "5")
    with groups.reading(1, 300_000), groups.reading(1, 300_000):
        pass


def test_a_quote_with_placeholders_is_refused_and_others_are_not(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = service.new_group(["254711000001", "254711000002"])
    monkeypatch.setattr(large_groups, "LARGE", 2)
    body = {"sender_id": "ACME", "group_id": group}
    held = service.flask.extensions["bulksms"].large_groups
    with held.reading(service.account_id, 2), held.reading(service.account_id, 2):
        for path in ("/sms/quote", "/sms/send-group"):
            response = service.post(path, message="Hi {{name|friend}}", **body)
            assert (response.status_code, response.json["code"]) == (429, "rate_limited")
        assert service.post("/sms/quote", message="Hi", **body).status_code == 200
    assert service.post("/sms/quote", message="Hi {{name|friend}}", **body).status_code == 200
    assert service.post("/sms/send-group", message="Hi {{name|friend}}", **body).status_code == 200
