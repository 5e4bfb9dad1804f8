"""The response to an accepted send."""

from collections.abc import Iterator
from typing import Any

from api.commit.draft import MAX_INLINE_ENTRIES, Draft, encode
from shared.ids import prefix_of, rfc3339


def response_body(draft: Draft, balance: int) -> str:
    """The body of the 200 response; `balance` is the remaining credits."""
    if draft.response is not None:
        return draft.response
    if draft.over_smpp is not None:
        return encode({"send_id": draft.id, "message_id": _message_id(draft)})
    return encode(_single(draft, balance) if draft.kind == "single" else _bulk(draft, balance))


def _single(draft: Draft, balance: int) -> dict[str, Any]:
    return {
        "send_id": draft.id,
        "message_id": _message_id(draft),
        "status": draft.state,
        "sender_id": draft.sender_id,
        "phone": draft.phones[0],
        "segments": {
            "count": draft.segmentation.count,
            "encoding": draft.segmentation.encoding,
            "characters": draft.segmentation.characters,
        },
        "cost": draft.cost,
        "balance": balance,
        **_common(draft),
    }


def _message_id(draft: Draft) -> str:
    """The id of a send's only message."""
    return f"{prefix_of(draft.batch_ids[0])}0001"


def _bulk(draft: Draft, balance: int) -> dict[str, Any]:
    messages = list(_messages(draft))
    for message, reference in zip(messages, draft.references or (), strict=False):
        message |= {"reference": reference} if reference is not None else {}
    response = {
        "send_id": str(draft.id),
        "status": draft.state,
        "sender_id": draft.sender_id,
        "group_id": draft.group_id and str(draft.group_id),
        "counts": draft.counts(),
        "segments": segments_of(draft),
        "cost": draft.cost,
        **countries_of(draft),
        "balance": balance,
        "rejected": draft.rejected[:MAX_INLINE_ENTRIES],
        "messages": messages,
        "messages_url": f"/api/v1/sends/{draft.id}/messages",
        **_common(draft),
    }
    if max(len(draft.rejected), draft.incomplete) > MAX_INLINE_ENTRIES:
        response["rejected_truncated"] = True
    if draft.accepted > MAX_INLINE_ENTRIES or draft.group_id is not None:
        response["messages_truncated"] = True
    return response


def segments_of(draft: Draft) -> dict[str, Any]:
    """The `segments` of a response; `per_message` is None if messages differ."""
    differ = draft.max_total_segments is not None or len({segments for _, segments in draft.slices()}) > 1
    return {
        "per_message": None if differ else draft.segmentation.count,
        "encoding": draft.segmentation.encoding,
        "total": draft.segments,
    }


def countries_of(draft: Draft) -> dict[str, Any]:
    """The `countries` of a response: messages and cost by country, the dearest first. Empty if prices do not
    differ."""
    if draft.by_country is None:
        return {}
    ordered = sorted(draft.by_country.items(), key=lambda each: (-each[1][1], each[0]))
    return {
        "countries": [
            {"country": country or None, "messages": messages, "cost": cost} for country, (messages, cost) in ordered
        ]
    }


def _messages(draft: Draft) -> Iterator[dict[str, str]]:
    if draft.chunks is not None:
        message_ids = {
            position: f"{prefix_of(batch)}{index:04x}"
            for batch, chunk in zip(draft.batch_ids, draft.chunks, strict=True)
            for index, position in enumerate(chunk.positions, 1)
            if position < MAX_INLINE_ENTRIES
        }
        for position, phone in enumerate(draft.phones[:MAX_INLINE_ENTRIES]):
            yield {"message_id": message_ids[position], "phone": phone}
    elif draft.batch_ids:
        prefix = prefix_of(draft.batch_ids[0])
        for index, phone in enumerate(draft.phones[:MAX_INLINE_ENTRIES], 1):
            yield {"message_id": f"{prefix}{index:04x}", "phone": phone}


def _common(draft: Draft) -> dict[str, Any]:
    return {
        "category": str(draft.category),
        "reference": draft.reference,
        "send_at": rfc3339(draft.send_at) if draft.send_at else None,
        "expires_at": rfc3339(draft.expires_at),
        "test": draft.test,
        **({"simulated": True} if draft.simulated else {}),
        "created_at": rfc3339(draft.created_at),
    }
