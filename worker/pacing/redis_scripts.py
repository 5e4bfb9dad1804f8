"""What Redis does for the paces of carriers (`worker/pacing/pace.py`), each at once for all workers: Lua scripts.

Of a carrier there is the row `pace:<carrier>` in Redis: tokens as they were at the moment `at`, when the next who waits
shall ask (`next`), until when there is enough to do (`claimed`), and after throttling limit, since, base.
"""

BURST = 0.035
"""Seconds' worth that the bucket holds: as much may be caught up."""
DECREASE, COOLING, FLOOR = 0.7, 1.0, 0.05
"""What is left after throttling, seconds until that may happen again, and the least part of the rate that is left."""
GROWTH = 0.08
"""Of the rate, each second, until all of it is allowed again: from FLOOR in 12 seconds."""
ENOUGH = 1.5
"""A carrier without a rate is limited until so much of what it took is allowed."""
AHEAD = 0.15
"""Seconds by which messages are claimed before they can leave, as the carrier would idle if a claim took longer."""

ALLOWED = f"""
local now = redis.call('TIME')
local at = now[1] + now[2] / 1000000
local key, rate = KEYS[1], tonumber(ARGV[1])
local row = redis.call('HMGET', key, 'tokens', 'limit', 'since', 'base', 'at', 'next')
local base, allowed = rate, rate
if row[2] then
    if rate <= 0 then base = tonumber(row[4]) end
    allowed = tonumber(row[2]) + base * {GROWTH} * (at - tonumber(row[3]))
    if rate > 0 then allowed = math.min(rate, allowed) elseif allowed >= base * {ENOUGH} then allowed = 0 end
end
"""
"""Begins each of the scripts: what is allowed now, in segments per second; 0 is no limit. ARGV[1] is the rate."""

TAKE = f"""{ALLOWED}
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
redis.call('EXPIRE', key, 600)
return {{tostring(wait), tostring(allowed)}}
"""
"""Take so many segments. ARGV: rate, segments, how long they can wait, the part of the rate that Redis gives out, and
whether this asks again. Returns 0 when they may leave now, or else the seconds until it is worth asking again (-1: too
long), and what is allowed."""

SLOW = f"""{ALLOWED}
if row[2] and at - tonumber(row[3]) < {COOLING} then return tostring(allowed) end
if rate <= 0 then base = math.max(1, allowed > 0 and base or tonumber(ARGV[2])) end
if allowed <= 0 then allowed = base end
local limit = math.max(base * {FLOOR}, allowed * {DECREASE})
redis.call('HSET', key, 'limit', tostring(limit), 'since', string.format('%.6f', at), 'base', tostring(base))
redis.call('EXPIRE', key, 600)
return tostring(limit)
"""
"""The carrier throttles. ARGV: rate, what it took last. Returns what is allowed now."""

BOOK = f"""{ALLOWED}
local pace = allowed * tonumber(ARGV[3])
if pace <= 0 then return '0' end
local claimed = tonumber(redis.call('HGET', key, 'claimed')) or 0
local wait = math.max(0, claimed - at - {AHEAD})
if wait > tonumber(ARGV[4]) then return '-1' end
redis.call('HSET', key, 'claimed', string.format('%.6f', math.max(at, claimed) + tonumber(ARGV[2]) / pace))
redis.call('EXPIRE', key, 600)
return tostring(wait)
"""
"""Book the claim of so many segments. ARGV: rate, segments (below 0: so many were booked and not claimed), the part of
the rate that Redis gives out, how long they can wait. Returns the seconds until they may be claimed; -1: too long, and
nothing is booked."""
