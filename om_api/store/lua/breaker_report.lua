-- breaker_report(breaker; token, outcome, wait_ms)
-- Tells how a call ended: 'answered', 'failed', 'busy' (come back in wait_ms) or 'none' (it was not made after all).
-- Five failures within a minute, without an answer in between, open the breaker for 30 s; each failed probe doubles that, up to ten
-- minutes. Of an open one only the probe decides: whoever asked before it opened, and hears of it late, changes nothing.
-- Returns 'closed' or 'open'.
local breaker, token, outcome, wait_ms = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local FAILURES, WINDOW_MS, PAUSE_MS, LONGEST_MS, REMEMBERED_MS = 5, 60000, 30000, 600000, 86400000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local got = redis.call('HMGET', breaker, 'busy', 'until', 'probe', 'times', 'failures', 'since')
local busy, open, since = tonumber(got[1]) or 0, tonumber(got[2]) or 0, tonumber(got[6]) or 0
local times, failures = tonumber(got[4]), tonumber(got[5])  -- there whenever it is open, or `since` is
local mine = got[3] == token
if mine then
  redis.call('HDEL', breaker, 'probe', 'probing')
end
if outcome == 'busy' then
  -- one further off than any pause lasts was set before the server's clock was set back
  redis.call('HSET', breaker, 'busy', busy > now + LONGEST_MS and now + wait_ms or math.max(busy, now + wait_ms))
elseif outcome == 'answered' and (open == 0 or mine) then
  redis.call('HDEL', breaker, 'until', 'times', 'failures', 'since')
  open = 0
elseif outcome == 'failed' and open == 0 then
  if since + WINDOW_MS <= now then
    failures, since = 0, now
  end
  failures = failures + 1
  redis.call('HSET', breaker, 'failures', failures, 'since', since)
  if failures >= FAILURES then
    open = now + PAUSE_MS
    redis.call('HSET', breaker, 'until', open, 'times', 1)
  end
elseif outcome == 'failed' and mine then
  redis.call('HSET', breaker, 'until', now + math.min(PAUSE_MS * 2 ^ times, LONGEST_MS), 'times', times + 1)
end
redis.call('PEXPIRE', breaker, REMEMBERED_MS)
return open == 0 and 'closed' or 'open'
