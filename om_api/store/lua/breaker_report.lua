-- breaker_report(breaker, holders, alone; token, lease_ms, outcome, wait_ms, resource)
-- Gives the place of a call back and tells how it ended: 'answered', 'failed', 'late' (it failed by waiting in vain), 'busy' (too
-- many, come back in wait_ms) or 'none' (it was not made after all).
-- Five failures within a minute, without an answer in between, open a breaker for 30 s; each failed probe doubles that, up to ten
-- minutes. What broke every call in flight at once is no fifth failure: that takes one that began after the first, or was late.
-- Of an open one only the probe decides: whoever asked before it opened, and hears of it late, changes nothing.
-- `alone` counts the failures of one agent, and stops that agent. `breaker` stops everybody, so it takes two agents to open it and
-- to lengthen its pause: of one agent it counts three failures, and a probe that fails for one agent leaves the next probe to
-- another one. `alone` and `alone_until` in `breaker` name the agent that was stopped last.
-- 'busy' halves the room: how many calls may be in flight. Calls that began before do not halve it again, but as long as nothing is
-- answered there is no more room than for those that were not refused yet. With less than one call's room everybody waits for
-- wait_ms, and then there is room for one. An answer makes room for one more, from the half on for a quarter.
-- Returns 'closed' or 'open', the state of the model's breaker.
local breaker, holders, alone, token, lease_ms = KEYS[1], KEYS[2], KEYS[3], ARGV[1], tonumber(ARGV[2])
local outcome, wait_ms, resource = ARGV[3], tonumber(ARGV[4]), ARGV[5]
local FAILURES, OF_ONE, WINDOW_MS, PAUSE_MS, LONGEST_MS, REMEMBERED_MS = 5, 3, 60000, 30000, 600000, 86400000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local began = tonumber(redis.call('ZSCORE', holders, token) or '')
began = began and began - lease_ms  -- nobody knows of one whose lease has ended
redis.call('ZREM', holders, token)
local got = redis.call('HMGET', breaker, 'busy', 'until', 'probe', 'doubt', 'room', 'half', 'cut', 'refused')
local busy, open, mine = tonumber(got[1]) or 0, tonumber(got[2]) or 0, got[3] == token
local room, half, cut = tonumber(got[5]), tonumber(got[6]), tonumber(got[7])  -- all of them, or none
local own = redis.call('HMGET', alone, 'until', 'probe')
local stopped, my_own = tonumber(own[1]) or 0, own[2] == token
for key, ended in pairs({[breaker] = mine, [alone] = my_own}) do
  if ended then
    redis.call('HDEL', key, 'probe', 'probing')
  end
end

local function pause(key)
  local times = tonumber(redis.call('HGET', key, 'times') or '') or 0
  local until_ms = now + math.min(PAUSE_MS * 2 ^ times, LONGEST_MS)
  redis.call('HSET', key, 'until', until_ms, 'times', times + 1)
  return until_ms
end

-- Counts a failure; true where it is one too many. `most` is how many of this agent's count, if it is limited.
local function count(key, most)
  local state = redis.call('HMGET', key, 'failures', 'since')
  local failures, since = tonumber(state[1]), tonumber(state[2]) or 0
  if since + WINDOW_MS <= now then
    failures, since = 0, now
  end
  if most then
    local told = redis.call('HMGET', alone, 'told', 'told_since')
    local times = tonumber(told[2]) == since and tonumber(told[1]) or 0
    if times >= most then
      return false
    end
    redis.call('HSET', alone, 'told', times + 1, 'told_since', since)
  end
  if failures < FAILURES - 1 or outcome == 'late' or not began or began > since then
    failures = failures + 1
  end
  redis.call('HSET', key, 'failures', failures, 'since', since)
  return failures >= FAILURES
end

if outcome == 'busy' then
  local others = redis.call('ZCOUNT', holders, '(' .. now, '+inf')
  if not room or cut > now or (began and began > cut) then
    room = (room or others + 2) / 2
    redis.call('HSET', breaker, 'half', room, 'cut', now, 'refused', 1)
  elseif got[8] then
    room = math.min(room, others)
  end
  if room < 1 then
    room = 1
    -- one further off than any pause lasts was set before the server's clock was set back
    redis.call('HSET', breaker, 'busy', busy > now + LONGEST_MS and now + wait_ms or math.max(busy, now + wait_ms))
  end
  redis.call('HSET', breaker, 'room', room)
elseif outcome == 'answered' then
  if stopped == 0 or my_own or mine then
    redis.call('DEL', alone)
    if redis.call('HGET', breaker, 'alone') == resource then
      redis.call('HDEL', breaker, 'alone', 'alone_until')
    end
  end
  if open == 0 or mine then
    redis.call('HDEL', breaker, 'until', 'times', 'failures', 'since', 'refused', 'doubt')
    open = 0
    if room and (cut > now or cut + LONGEST_MS <= now) then
      redis.call('HDEL', breaker, 'room', 'half', 'cut')
    elseif room then
      redis.call('HSET', breaker, 'room', room + (room < half and 1 or 0.25))
    end
  end
elseif outcome == 'failed' or outcome == 'late' then
  if mine or my_own or (open == 0 and stopped == 0 and count(alone)) then
    redis.call('HSET', breaker, 'alone', resource, 'alone_until', pause(alone))
  end
  if open == 0 and count(breaker, OF_ONE) then
    open = pause(breaker)
  elseif mine and got[4] and got[4] ~= resource then
    redis.call('HDEL', breaker, 'doubt')
    pause(breaker)
  elseif mine then
    redis.call('HSET', breaker, 'doubt', resource)
  end
end
redis.call('PEXPIRE', breaker, REMEMBERED_MS)
redis.call('PEXPIRE', alone, REMEMBERED_MS)
return open == 0 and 'closed' or 'open'
