-- breaker_report(breaker, holders; token, lease_ms, outcome, wait_ms)
-- Gives the place of a call back and tells how it ended: 'answered', 'failed', 'late' (it failed by waiting in vain), 'busy' (too
-- many, come back in wait_ms) or 'none' (it was not made after all).
-- Five failures within a minute, without an answer in between, open the breaker for 30 s; each failed probe doubles that, up to ten
-- minutes. What broke every call in flight at once is no fifth failure: that takes one that began after the first, or was late.
-- Of an open one only the probe decides: whoever asked before it opened, and hears of it late, changes nothing.
-- 'busy' halves the room: how many calls may be in flight. Calls that began before do not halve it again, but as long as nothing is
-- answered there is no more room than for those that were not refused yet. With less than one call's room everybody waits for
-- wait_ms, and then there is room for one. An answer makes room for one more, from the half on for a quarter.
-- Returns 'closed' or 'open'.
local breaker, holders, token, lease_ms = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local outcome, wait_ms = ARGV[3], tonumber(ARGV[4])
local FAILURES, WINDOW_MS, PAUSE_MS, LONGEST_MS, REMEMBERED_MS = 5, 60000, 30000, 600000, 86400000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local began = tonumber(redis.call('ZSCORE', holders, token) or '')
began = began and began - lease_ms  -- nobody knows of one whose lease has ended
redis.call('ZREM', holders, token)
local got = redis.call('HMGET', breaker, 'busy', 'until', 'probe', 'times', 'failures', 'since', 'room', 'half', 'cut', 'refused')
local busy, open, since = tonumber(got[1]) or 0, tonumber(got[2]) or 0, tonumber(got[6]) or 0
local times, failures = tonumber(got[4]), tonumber(got[5])  -- there whenever it is open, or `since` is
local room, half, cut = tonumber(got[7]), tonumber(got[8]), tonumber(got[9])  -- all of them, or none
local mine = got[3] == token
if mine then
  redis.call('HDEL', breaker, 'probe', 'probing')
end
if outcome == 'busy' then
  local others = redis.call('ZCOUNT', holders, '(' .. now, '+inf')
  if not room or cut > now or (began and began > cut) then
    room = (room or others + 2) / 2
    redis.call('HSET', breaker, 'half', room, 'cut', now, 'refused', 1)
  elseif got[10] then
    room = math.min(room, others)
  end
  if room < 1 then
    room = 1
    -- one further off than any pause lasts was set before the server's clock was set back
    redis.call('HSET', breaker, 'busy', busy > now + LONGEST_MS and now + wait_ms or math.max(busy, now + wait_ms))
  end
  redis.call('HSET', breaker, 'room', room)
elseif outcome == 'answered' and (open == 0 or mine) then
  redis.call('HDEL', breaker, 'until', 'times', 'failures', 'since', 'refused')
  open = 0
  if room and (cut > now or cut + LONGEST_MS <= now) then
    redis.call('HDEL', breaker, 'room', 'half', 'cut')
  elseif room then
    redis.call('HSET', breaker, 'room', room + (room < half and 1 or 0.25))
  end
elseif (outcome == 'failed' or outcome == 'late') and open == 0 then
  if since + WINDOW_MS <= now then
    failures, since = 0, now
  end
  if failures < FAILURES - 1 or outcome == 'late' or not began or began > since then
    failures = failures + 1
  end
  redis.call('HSET', breaker, 'failures', failures, 'since', since)
  if failures >= FAILURES then
    open = now + PAUSE_MS
    redis.call('HSET', breaker, 'until', open, 'times', 1)
  end
elseif (outcome == 'failed' or outcome == 'late') and mine then
  redis.call('HSET', breaker, 'until', now + math.min(PAUSE_MS * 2 ^ times, LONGEST_MS), 'times', times + 1)
end
redis.call('PEXPIRE', breaker, REMEMBERED_MS)
return open == 0 and 'closed' or 'open'
