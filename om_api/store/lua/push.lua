-- push(tokens, due, [messages, seen, seen_before]...; window, window_ms, mark, scope, resource, fresh_key, [thread, due_name, n, [score, member, id, fingerprint, tokens]...]...)
-- The hot path: adds the messages of one resource and counts exactly those that were not there. An id found in this window or
-- the one before was accepted within the last ten minutes: its message is a duplicate whatever it says, the first one wins.
-- Due = nothing was unsealed before, or no worker has said from where on it is due, or that point is reached; a push that
-- adds nothing still says so, because the reply of the first try may have been lost. The first message that is kept brings the
-- key that contexts are signed with.
-- A count that is more than follows is refused before anything is written: nothing ends a loop that a caller's number makes long.
-- Returns {now, '!clock'} (no id has a !) when the caller's window is not the server's, else {now, due, position of each duplicate ...}.
local tokens, due, window, window_ms, mark, scope, resource, fresh = KEYS[1], KEYS[2], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5], ARGV[6]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if math.floor(now / window_ms) ~= window then
  return {now, '!clock'}
end

local function sliced(command, key, list)
  if #list <= 1000 then
    return redis.call(command, key, unpack(list))
  end
  local replies = {}
  for from = 1, #list, 1000 do
    local to = math.min(from + 999, #list)
    local reply = redis.call(command, key, unpack(list, from, to))
    if type(reply) == 'table' then
      for i = 1, to - from + 1 do
        replies[from + i - 1] = reply[i]
      end
    end
  end
  return replies
end

local groups, asked, slot, position, reply = {}, {'*', '*wake', '*key'}, 7, 0, {now, ''}
for k = 3, #KEYS, 3 do
  local group = {thread = ARGV[slot], name = ARGV[slot + 1], messages = KEYS[k], seen = KEYS[k + 1], zadd = {}, sadd = {}, added = 0, weight = 0}
  local n = tonumber(ARGV[slot + 2])
  if not (n and n >= 1 and n % 1 == 0 and slot + 2 + n * 5 <= #ARGV) then
    return redis.error_reply('ERR a count of messages is not the number of those that follow')
  end
  local members, ids = {}, {}
  for i = 1, n do
    members[i], ids[i] = ARGV[slot + i * 5 - 1], ARGV[slot + i * 5]
  end
  local raw = sliced('ZMSCORE', group.messages, members)
  local seen = sliced('SMISMEMBER', group.seen, ids)
  local before = sliced('SMISMEMBER', KEYS[k + 2], ids)
  local taken = {}
  for i = 1, n do
    if raw[i] or seen[i] == 1 or before[i] == 1 or taken[ids[i]] then
      reply[#reply + 1] = position + i - 1
    else
      taken[ids[i]] = true
      group.zadd[#group.zadd + 1] = ARGV[slot + i * 5 - 2]
      group.zadd[#group.zadd + 1] = members[i]
      group.sadd[#group.sadd + 1] = ids[i]
      group.sadd[#group.sadd + 1] = ARGV[slot + i * 5 + 1]
      group.added = group.added + 1
      group.weight = group.weight + tonumber(ARGV[slot + i * 5 + 2])
    end
  end
  position = position + n
  slot = slot + 3 + n * 5
  asked[#asked + 1] = group.thread
  asked[#asked + 1] = '#' .. group.thread
  asked[#asked + 1] = '*wake:' .. group.thread
  groups[#groups + 1] = group
end
local known = sliced('HMGET', tokens, asked)
local total, wake = tonumber(known[1]) or 0, tonumber(known[2])

local fields, names, grown, by_resource = {}, {}, total, false
for g, group in ipairs(groups) do
  local before, count, own_wake = tonumber(known[g * 3 + 1]) or 0, tonumber(known[g * 3 + 2]) or 0, tonumber(known[g * 3 + 3])
  local after = before + group.weight
  if group.added > 0 then
    sliced('ZADD', group.messages, group.zadd)
    sliced('SADD', group.seen, group.sadd)
    redis.call('EXPIRE', group.seen, math.floor(window_ms / 500))
    fields[#fields + 1] = group.thread
    fields[#fields + 1] = string.format('%d', after)
    fields[#fields + 1] = '#' .. group.thread
    fields[#fields + 1] = string.format('%d', count + group.added)
    grown = grown + group.weight
  end
  if own_wake or (scope == 'thread' and not wake) then
    if count + group.added > 0 and (count == 0 or not own_wake or after >= own_wake) then
      names[#names + 1] = group.name
    end
  elseif count + group.added > 0 then
    by_resource = true
  end
end
if fields[1] then
  fields[#fields + 1] = '*'
  fields[#fields + 1] = string.format('%d', grown)
  if not known[3] then
    fields[#fields + 1] = '*key'
    fields[#fields + 1] = fresh
  end
  sliced('HSET', tokens, fields)
end
if by_resource and (total == 0 or not wake or grown >= wake) then
  names[#names + 1] = resource
end
if mark == '1' then
  for _, name in ipairs(names) do
    redis.call('ZADD', due, 'LT', now, name)
  end
end
reply[2] = table.concat(names, ' ')
return reply
