-- breaker_report(breaker, holders, alone, own_holders; token, lease_ms, outcome, wait_ms, resource)
-- Gives the place of a call back and tells how it ended: 'answered', 'failed', 'late' (it failed by waiting in vain), 'busy' (too
-- many, come back in wait_ms) or 'none' (it was not made after all).
-- Five failures within a minute, without an answer in between, open a breaker for 30 s; each failed probe doubles that, up to ten
-- minutes. What broke every call in flight at once is no fifth failure: that takes one that began after the first, or was late.
-- Of an open one only the probe decides: whoever asked before it opened, and hears of it late, changes nothing.
-- `alone` counts the failures of one agent, and stops that agent. `breaker` stops everybody, so it takes two agents to open it and
-- to lengthen its pause: of one agent it counts three failures, and a probe that fails for one agent leaves the next probe to
-- another one. `alone` and `alone_until` in `breaker` name the agent that was stopped last.
-- 'busy' halves the room: how many calls may be in flight. Calls that began before do not halve it again, but as long as nothing is
-- answered there is no more room than for those that were not refused yet. With less than one call's room the agent waits for
-- wait_ms, and then there is room for one. An answer makes room for one more, from the half on for a quarter.
-- `alone` has the room of one agent, among its calls in `own_holders`. The room in `breaker` is that of all agents: a refusal counts
-- there if the last one, within a minute, was of another agent, or if two agents were refused since an answer. All agents wait only
-- in the second case. A pause ends the count, so the next one takes two agents again.
-- Returns 'closed' or 'open', the state of the model's breaker.
local breaker, holders, alone, own_holders = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, lease_ms = ARGV[1], tonumber(ARGV[2])
local outcome, wait_ms, resource = ARGV[3], tonumber(ARGV[4]), ARGV[5]
local FAILURES, OF_ONE, WINDOW_MS, PAUSE_MS, LONGEST_MS, REMEMBERED_MS = 5, 3, 60000, 30000, 600000, 86400000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local began = tonumber(redis.call('ZSCORE', holders, token) or '')
began = began and began - lease_ms  -- nobody knows of one whose lease has ended
redis.call('ZREM', holders, token)
redis.call('ZREM', own_holders, token)
local got = redis.call('HMGET', breaker, 'until', 'probe', 'doubt')
local open, mine = tonumber(got[1]) or 0, got[2] == token
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

-- Takes room from the calls in flight `among`; true where that begins a pause. `unanswered`: no answer since an earlier refusal.
local function cut_room(key, among, unanswered)
  local state = redis.call('HMGET', key, 'busy', 'room', 'cut')
  local busy, room, cut = tonumber(state[1]) or 0, tonumber(state[2]), tonumber(state[3])
  local others = redis.call('ZCOUNT', among, '(' .. now, '+inf')
  if not room or cut > now or (began and began > cut) then
    room = (room or others + 2) / 2
    redis.call('HSET', key, 'half', room, 'cut', now)
  end
  if unanswered then
    room = math.min(room, others)
  end
  redis.call('HSET', key, 'room', math.max(room, 1))
  if room >= 1 or (key == breaker and not unanswered) then
    return false
  end
  -- one further off than any pause lasts was set before the server's clock was set back
  redis.call('HSET', key, 'busy', busy > now + LONGEST_MS and now + wait_ms or math.max(busy, now + wait_ms))
  return true
end

local function refuse()
  local own_unanswered = redis.call('HGET', alone, 'unanswered')
  redis.call('HSET', alone, 'unanswered', 1)
  if cut_room(alone, own_holders, own_unanswered) then
    redis.call('HSET', breaker, 'alone', resource, 'alone_until', now + wait_ms)
  end
  local last = redis.call('HMGET', breaker, 'refused', 'refused_at', 'unanswered')
  local at, unanswered = tonumber(last[2]) or 0, tonumber(last[3])
  local another = last[1] and last[1] ~= resource and at <= now and now < at + WINDOW_MS
  redis.call('HSET', breaker, 'refused', resource, 'refused_at', now)
  if not another and unanswered ~= 2 then
    redis.call('HSET', breaker, 'unanswered', 1)
  elseif cut_room(breaker, holders, unanswered) then
    redis.call('HDEL', breaker, 'unanswered')
  else
    redis.call('HSET', breaker, 'unanswered', unanswered and 2 or 1)
  end
end

local function answer(key)
  redis.call('HDEL', key, 'until', 'times', 'failures', 'since', 'unanswered', 'doubt', 'told', 'told_since')
  local state = redis.call('HMGET', key, 'room', 'half', 'cut')
  local room, half, cut = tonumber(state[1]), tonumber(state[2]), tonumber(state[3])  -- all of them, or none
  if room and (cut > now or cut + LONGEST_MS <= now) then
    redis.call('HDEL', key, 'room', 'half', 'cut')
  elseif room then
    redis.call('HSET', key, 'room', room + (room < half and 1 or 0.25))
  end
end

if outcome == 'busy' then
  refuse()
elseif outcome == 'answered' then
  if stopped == 0 or my_own or mine then
    answer(alone)
    if redis.call('HGET', breaker, 'alone') == resource then
      redis.call('HDEL', breaker, 'alone', 'alone_until')
    end
  end
  if open == 0 or mine then
    answer(breaker)
    open = 0
  end
elseif outcome == 'failed' or outcome == 'late' then
  if mine or my_own or (open == 0 and stopped == 0 and count(alone)) then
    redis.call('HSET', breaker, 'alone', resource, 'alone_until', pause(alone))
  end
  if open == 0 and count(breaker, OF_ONE) then
    open = pause(breaker)
  elseif mine and got[3] and got[3] ~= resource then
    redis.call('HDEL', breaker, 'doubt')
    pause(breaker)
  elseif mine then
    redis.call('HSET', breaker, 'doubt', resource)
  end
end
redis.call('PEXPIRE', breaker, REMEMBERED_MS)
redis.call('PEXPIRE', alone, REMEMBERED_MS)
return open == 0 and 'closed' or 'open'
