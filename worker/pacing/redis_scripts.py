"""The Lua scripts of the paces of carriers (`worker/pacing/pace.py`), which run atomically for all workers.

A carrier's state is the Redis hash `pace:<carrier>`: `tokens` at the time `at`, the time for the next waiting caller to
ask again (`next`), the time up to which claims are scheduled (`claimed`), and, after throttling, `limit`, `since` and
`base`.
"""

BURST = 0.035
"""Capacity of the bucket, as seconds of the rate."""
DECREASE, DECREASE_INTERVAL_SECONDS, FLOOR = 0.7, 1.0, 0.05
"""Factor after throttling, seconds until it may apply again, and the lowest fraction of the rate."""
GROWTH = 0.08
"""Growth per second, as a fraction of the rate: from FLOOR to the full rate in 12 seconds."""
LIMIT_ENDS_AT = 1.5
"""A carrier without a rate is limited until the allowed rate reaches this multiple of what it took."""
CLAIMED_AHEAD = 0.15
"""Seconds by which claims run ahead of the rate, so that the carrier does not idle while a claim takes long."""
KEPT_SECONDS = 600
"""How long a carrier's state is kept after its last change."""

ALLOWED = f"""
local now = redis.call('TIME')
local at = now[1] + now[2] / 1000000
local key, rate = KEYS[1], tonumber(ARGV[1])
if redis.call('PTTL', key) > 1000 * {KEPT_SECONDS} then redis.call('DEL', key) end
local row = redis.call('HMGET', key, 'tokens', 'limit', 'since', 'base', 'at', 'next')
local base, allowed = rate, rate
if row[2] then
    if rate <= 0 then base = tonumber(row[4]) end
    allowed = tonumber(row[2]) + base * {GROWTH} * (at - tonumber(row[3]))
    if rate > 0 then allowed = math.min(rate, allowed) elseif allowed >= base * {LIMIT_ENDS_AT} then allowed = 0 end
end
"""
"""Begins each script: computes `allowed`, in segments per second; 0 means no limit. ARGV[1] is the rate.

A state that would be kept for longer than KEPT_SECONDS is from before the clock of Redis was set back: it begins
anew."""

TAKE_TOKENS = f"""{ALLOWED}
local wanted, patience = tonumber(ARGV[2]), tonumber(ARGV[3])
if allowed <= 0 then return {{'0', '0'}} end
local pace = allowed * tonumber(ARGV[4])
if pace <= 0 then return {{'-1', tostring(allowed)}} end
local burst = math.max(1, pace * {BURST})
local tokens = math.min(burst, (tonumber(row[1]) or burst) + (at - (tonumber(row[5]) or at)) * pace)
local wait, next = 0, tonumber(row[6]) or 0
if tokens >= math.min(wanted, burst) then
    tokens = tokens - wanted
elseif ARGV[5] == '1' then
    wait = (math.min(wanted, burst) - tokens) / pace
else
    next = math.max(next, at - tokens / pace) + wanted / pace
    wait = next - at
end
if wait > patience then return {{'-1', tostring(allowed)}} end
redis.call('HSET', key, 'tokens', tostring(tokens), 'at', string.format('%.6f', at))
redis.call('HSET', key, 'next', string.format('%.6f', next))
redis.call('EXPIRE', key, {KEPT_SECONDS})
return {{tostring(wait), tostring(allowed)}}
"""
"""Take segments. ARGV: rate, segments, longest wait in seconds, the share of the rate for workers with Redis, and 1 for
a retry, else 0. Returns 0 if they were taken, or the seconds until a retry (-1: too long), and the allowed rate."""

THROTTLE = f"""{ALLOWED}
if row[2] and at - tonumber(row[3]) < {DECREASE_INTERVAL_SECONDS} then return tostring(allowed) end
if rate <= 0 then base = math.max(1, allowed > 0 and base or tonumber(ARGV[2])) end
if allowed <= 0 then allowed = base end
local limit = math.max(base * {FLOOR}, allowed * {DECREASE})
redis.call('HSET', key, 'limit', tostring(limit), 'since', string.format('%.6f', at), 'base', tostring(base))
redis.call('EXPIRE', key, {KEPT_SECONDS})
return tostring(limit)
"""
"""Slow down after throttling. ARGV: rate, what the carrier took last. Returns the allowed rate."""

SCHEDULE = f"""{ALLOWED}
local pace = allowed * tonumber(ARGV[3])
if pace <= 0 then return '0' end
local claimed = tonumber(redis.call('HGET', key, 'claimed')) or 0
local wait = math.max(0, claimed - at - {CLAIMED_AHEAD})
if wait > tonumber(ARGV[4]) then return '-1' end
redis.call('HSET', key, 'claimed', string.format('%.6f', math.max(at, claimed) + tonumber(ARGV[2]) / pace))
redis.call('EXPIRE', key, {KEPT_SECONDS})
return tostring(wait)
"""
"""Schedule the claim of segments. ARGV: rate, segments (negative to return unclaimed ones), the share of the rate for
workers with Redis, longest wait in seconds. Returns the seconds until they may be claimed, or -1 if that is too long;
nothing is scheduled then."""
