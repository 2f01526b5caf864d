-- describe(state, known, messages, tokens, threads; thread, archived, memory, most, n, [field, value]...)
-- Says something of a thread that there is: n fields of its hash, of which '' takes one out. `archived` is '1' or '0', '' leaves that
-- as it is. An archived thread is one that the field `*away:` of the tokens names: the first message that is accepted takes it out.
-- `memory` is its memory mode (full, off, read_only, write_only), '' leaves that as it is. A mode alone may be set before a thread
-- begins, of at most `most` threads without messages: every read of the memory reads these fields. What is unsealed of a thread
-- that leaves no memory (off, read_only) is not counted in `*`; once it leaves one again, the next look and the next push find it due.
-- Returns 'changed', 'same' for a mode alone that is in force, 'unknown' where there is no such thread, {'alias', thread} for what
-- became an alias, or {'full', thread} with one of those threads without messages.
local state, known, messages, tokens, threads = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local thread, archived, memory, most, n = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])

-- How many threads without messages have a mode, and the last one met. HLEN spares small memories the look at all fields.
local function without_messages()
  if redis.call('HLEN', tokens) < most then
    return 0
  end
  local fields, has, count, last = redis.call('HKEYS', tokens), {}, 0, ''
  for _, field in ipairs(fields) do
    has[field] = true
  end
  for _, field in ipairs(fields) do
    local name = string.match(field, '^%*memory:(.+)$')
    if name and not has['#' .. name] and not redis.call('ZSCORE', threads, name) then
      count, last = count + 1, name
    end
  end
  return count, last
end

local stands = redis.call('HGET', known, '=')
if stands then
  return {'alias', stands}
end
local begins = memory ~= '' and archived == '' and n == 0
if not begins and redis.call('EXISTS', state, known, messages) == 0 and not redis.call('ZSCORE', threads, thread) then
  return 'unknown'
end
redis.call('HLEN', state)
local counts = redis.call('HMGET', tokens, thread, '*', '*memory:' .. thread)
if begins and memory == (counts[3] or 'full') then
  return 'same'
end
local adds = memory ~= '' and memory ~= 'full' and not counts[3]
if adds and redis.call('EXISTS', known, messages) == 0 and not redis.call('ZSCORE', threads, thread) then
  local count, last = without_messages()
  if count >= most then
    return {'full', last}
  end
end
for slot = 6, math.min(5 + 2 * n, #ARGV - 1), 2 do
  if ARGV[slot + 1] == '' then
    redis.call('HDEL', state, ARGV[slot])
  else
    redis.call('HSET', state, ARGV[slot], ARGV[slot + 1])
  end
end
if archived == '1' then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('HSET', state, 'archived_at', string.format('%d', now))
  redis.call('HSET', tokens, '*away:' .. thread, '1')
elseif archived == '0' then
  redis.call('HDEL', state, 'archived_at')
  redis.call('HDEL', tokens, '*away:' .. thread)
end
local function leaves_none(mode)
  return mode == 'off' or mode == 'read_only'
end
if memory == 'full' then
  redis.call('HDEL', tokens, '*memory:' .. thread)
elseif memory ~= '' then
  redis.call('HSET', tokens, '*memory:' .. thread, memory)
end
if memory ~= '' and leaves_none(memory) ~= leaves_none(counts[3]) then
  local own = tonumber(counts[1] or '') or 0
  local total = (tonumber(counts[2] or '') or 0) + (leaves_none(memory) and -own or own)
  if counts[2] then
    redis.call('HSET', tokens, '*', string.format('%d', math.max(total, 0)))
  end
  redis.call('HDEL', tokens, '*wake', '*wake:' .. thread)
end
return 'changed'
