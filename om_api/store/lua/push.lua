-- push(tokens, due, pace, pusher_pace, [messages, known]...; mark, scope, resource, fresh_key, limits, [thread, due_name, history, n, [score, member, record, tokens]...]...)
-- The hot path: adds the messages of one resource whose ids are not known, and counts exactly those. An id is known while anything
-- of its message is kept; a message that comes again under it adds nothing here.
-- Due = nothing was unsealed before, or no worker has said from where on it is due, or that point is reached; a push that
-- adds nothing still says so, because the reply of the first try may have been lost. The first message that is kept brings the
-- key that contexts are signed with.
-- `history` is '-'; or the records of a client's history before these: all of them must be known to say that, the last one known
-- must be what was accepted last, and none that is new stand before it, else somebody went on otherwise, and nothing is
-- written; or '!', which says that the history ends here whatever was known of it; or '.', which says that it does not end here.
-- Behind these two may stand 7 bytes, the id that must still be what was accepted last (zeros: nothing was): the history was laid
-- beside what was kept then.
-- `limits` is ''; or how far (s) this push may be ahead of them, and messages and bytes a second of the resource and of its pusher
-- (0: no such limit). What is not known as it is counts, all of it or nothing: while a push may be further ahead it is taken,
-- however large, and owed by those that come. What is owed is in `pace` and `pusher_pace`, until it is paid by time.
-- A thread that is an alias of another one takes nothing. Who knows of an alias already names it beside the thread that it stands
-- for: its history is that thread, no message follows, and it must still stand for it.
-- A message of no history that comes again, as it is, is no longer retracted; one of a history that is retracted is `!apart`.
-- A score more than a second ahead of the server's time becomes that time, or stands right behind the thread's last message: those of
-- one call stay in their order by fractions of a millisecond, and what follows one of them in its thread, and is of the last minute,
-- stands behind it too. A clock that runs ahead moves no answer before its question.
-- The messages of a thread that leaves no memory (`*memory:` is off or read_only) are counted for their thread alone, and make nothing due
-- but the first look at a new resource.
-- A count that is more than follows is refused before anything is written: nothing ends a loop that a caller's number makes long.
-- Returns {now, '!apart'} (no id has a !) for such a history; {now, '!limited', which of the four limits, in how many ms there is
-- room again} for what comes too fast; {now, '!alias', thread, what it is an alias of ('': of none)}: of all of these nothing is written; else {now, due, [position, '' or the record kept]...} of what was known.
-- A part of the due index that was closed refuses before anything is written, where something may be due.
local tokens, due, pace, pusher_pace = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mark, scope, resource, fresh, limits = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local sub = string.sub

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local AHEAD = 1000 -- ms by which clocks may differ

-- The score of a thread's newest message, unless it is itself ahead.
local function newest(messages)
  local last = tonumber(redis.call('ZRANGE', messages, 0, 0, 'REV', 'WITHSCORES')[2] or '') or 0
  return last <= now + AHEAD and last or 0
end

-- What comes most often, one message more of a thread that is not due with it: as all else below, without what that needs to be
-- ready for. False, and nothing was written, where it may be anything else: known, limited, due, or one by which a bucket is split.
local function added_alone()
  if #KEYS ~= 6 or #ARGV ~= 13 or ARGV[9] ~= '1' or ARGV[8] ~= '-' or limits ~= '' then
    return false
  end
  local known, thread, record, weight, span = KEYS[6], ARGV[6], ARGV[12], tonumber(ARGV[13]), 1
  local was = redis.call('HMGET', known, '#', '/')
  local count, of = tonumber(was[1]), tonumber(was[2])
  if not (weight and count and of and of >= 1 and of < 2 ^ 31 and count < 48 * of) then
    return false
  end
  while span * 2 <= of do
    span = span * 2
  end
  local a, b, c, d = string.byte(record, 1, 4) -- its bucket, as in shared/ids.lua
  local at = (((a * 256 + b) * 256 + c) * 256 + d) % (span * 2)
  local name = string.format('%d', at < of and at or at - span)
  local held, id = redis.call('HGET', known, name) or '', sub(record, 1, 7)
  if string.find(held, id, 1, true) then
    return false
  end
  local counts = redis.call('HMGET', tokens, '*', '*wake', '*key', thread, '#' .. thread, '*wake:' .. thread, '*away:' .. thread, '*memory:' .. thread)
  local total, own_wake = tonumber(counts[1]) or 0, tonumber(counts[6])
  local after, grown, messages = (tonumber(counts[4]) or 0) + weight, total + weight, tonumber(counts[5]) or 0
  local wake = own_wake or tonumber(counts[2])
  if counts[7] or counts[8] or not (counts[3] and wake and messages > 0 and total > 0 and (own_wake and after or grown) < wake) then
    return false
  end
  local score = ARGV[10]
  if (tonumber(score) or 0) > now + AHEAD then
    score = string.format('%.4f', math.max(now, newest(KEYS[5]) + 0.0005))
  end
  redis.call('ZADD', KEYS[5], score, ARGV[11])
  redis.call('HSET', known, '#', string.format('%d', count + 1), '^', id, name, held .. record)
  redis.call('HSET', tokens, thread, string.format('%d', after), '#' .. thread, string.format('%d', messages + 1), '*', string.format('%d', grown))
  return true
end

if added_alone() then
  return {now, ''}
end

-- uses ids

local function sliced(command, key, list)
  if #list <= 1000 then
    return redis.call(command, key, unpack(list))
  end
  local replies = {}
  for from = 1, #list, 1000 do
    local to = math.min(from + 999, #list)
    local reply = redis.call(command, key, unpack(list, from, to))
    for i = 1, type(reply) == 'table' and to - from + 1 or 0 do
      replies[from + i - 1] = reply[i]
    end
  end
  return replies
end

-- Whether every id of a history is known, and the last one of all that is was what the thread ended with.
local function continues(group, last)
  if redis.call('ZCARD', group.messages) ~= (tonumber(redis.call('HGET', tokens, '#' .. group.thread) or '') or 0) then
    return false -- what a plain ZADD left is not known yet, and may be what comes
  end
  local records = ids.listed(group.history)
  local before, retracted = ids.open(group.known, records), ids.retracted(group.known)
  for i = 1, #records do
    local was = ids.find(before, sub(records[i], 1, 7))
    if not was or sub(was, 10) ~= sub(records[i], 10) or retracted[sub(records[i], 1, 7)] then
      return false
    end
  end
  for _, id in ipairs(group.again) do
    if retracted[id] then
      return false
    end
  end
  last = last or (records[1] and sub(records[#records], 1, 7))
  local head = redis.call('HGET', group.known, '^')
  if not head then -- nothing was accepted, or by an older version or an import, which do not say how a thread ended
    return before.count == 0
  end
  return head == last
end

local function amount(word)
  local found = tonumber(word or '') or 0
  return found >= 0 and found < 2 ^ 53 and found or 0
end

-- What is owed of each limit with these messages, and the seconds until both of a key's are paid; or the limit that is reached,
-- and for how long (ms). There is room for what comes while there is room for one, or nothing is owed.
local function counted(messages, bytes)
  local limit, more, owed, last = {}, {messages, bytes, messages, bytes}, {}, {0, 0}
  for word in string.gmatch(limits, '%S+') do
    limit[#limit + 1] = amount(word)
  end
  for n = 1, 4 do
    local per, side = limit[n + 1] or 0, n < 3 and 1 or 2
    owed[n] = 0
    if per > 0 then
      local was = redis.call('HMGET', side == 1 and pace or pusher_pace, n % 2 == 1 and 'messages' or 'bytes', 'at')
      local left = math.max(0, amount(was[1]) - math.max(0, now - amount(was[2])) / 1000 * per)
      local room = per * limit[1]
      local over = left + math.min(1, room) - room
      if over > 0 then
        return nil, n, math.ceil(over / per * 1000) + 1
      end
      owed[n] = left + more[n]
      last[side] = math.max(last[side], owed[n] / per)
    end
  end
  return owed, last
end

if mark == '1' then
  redis.call('ZADD', due, 'XX', 'LT', 'inf', resource) -- changes nothing
end
local groups, asked, slot, position, reply = {}, {'*', '*wake', '*key'}, 6, 0, {now, ''}
local messages, bytes = 0, 0
for k = 5, #KEYS, 2 do
  local group = {thread = ARGV[slot], name = ARGV[slot + 1], history = ARGV[slot + 2], messages = KEYS[k], known = KEYS[k + 1]}
  local n = tonumber(ARGV[slot + 3])
  if n == 0 then -- an alias that somebody knew of
    local stands = redis.call('HGET', group.known, '=') or ''
    if stands ~= group.history then
      return {now, '!alias', group.thread, stands}
    end
    slot = slot + 4
  else
    if not (n and n >= 1 and n % 1 == 0 and slot + 3 + n * 4 <= #ARGV) then
      return redis.error_reply('ERR a count of messages is not the number of those that follow')
    end
    local records, last, zadd, added, weight, top = {}, nil, {}, 0, 0, 0
    group.again = {}
    for i = 1, n do
      records[i] = ARGV[slot + i * 4 + 2]
    end
    if #KEYS > 6 then -- a single set is the first to be written, and refuses by itself
      redis.call('ZCARD', group.messages)
    end
    local set = ids.open(group.known, records)
    if set.alias then
      return {now, '!alias', group.thread, set.alias}
    end
    for i = 1, n do
      local record = records[i]
      local id = sub(record, 1, 7)
      local was, at = ids.find(set, id)
      if was then
        last = id
        group.parted = group.parted or added > 0
        local same = sub(was, 10) == sub(record, 10)
        group.again[#group.again + 1] = same and id or nil
        reply[#reply + 1] = position + i - 1
        reply[#reply + 1] = same and '' or was
        messages, bytes = messages + (same and 0 or 1), bytes + (same and 0 or #ARGV[slot + i * 4 + 1])
      else
        ids.add(set, id, record, at)
        local score = ARGV[slot + i * 4]
        local ms = tonumber(score) or 0
        if ms > now + AHEAD or (group.ahead and ms > now - 60000) then
          group.ahead = group.ahead or newest(group.messages)
          top = math.max(now, group.ahead + 0.0005, top + 0.0005)
          score = string.format('%.4f', top)
        elseif ms > top then
          top = ms
        end
        zadd[added * 2 + 1] = score
        zadd[added * 2 + 2] = ARGV[slot + i * 4 + 1]
        added = added + 1
        weight = weight + ARGV[slot + i * 4 + 3]
        bytes = bytes + #ARGV[slot + i * 4 + 1]
      end
    end
    messages = messages + added
    group.set, group.zadd, group.added, group.weight = set, zadd, added, weight
    if group.history == '-' and group.again[1] then
      group.retracted = ids.retracted(group.known)
    end
    local word = #group.history <= 8 and sub(group.history, 1, 1) or ''
    if word ~= '.' and (word ~= '-' or group.added > 0) then
      group.head = sub(records[n], 1, 7)
    end
    local moved = #group.history == 8 and (redis.call('HGET', group.known, '^') or string.rep('\0', 7)) ~= sub(group.history, 2)
    if moved or (word == '' and (group.parted or not continues(group, last))) then
      return {now, '!apart'}
    end
    position = position + n
    slot = slot + 4 + n * 4
    local place = #asked
    asked[place + 1], asked[place + 2], asked[place + 3] = group.thread, '#' .. group.thread, '*wake:' .. group.thread
    asked[place + 4], asked[place + 5] = '*away:' .. group.thread, '*memory:' .. group.thread
    groups[#groups + 1] = group
  end
end
local owed, last, wait
if limits ~= '' and messages > 0 then
  owed, last, wait = counted(messages, bytes)
  if not owed then
    return {now, '!limited', last, wait}
  end
end
local counts = sliced('HMGET', tokens, asked)
local total, wake = tonumber(counts[1]) or 0, tonumber(counts[2])

local fields, names, grown, by_resource = {}, {}, total, false
for g, group in ipairs(groups) do
  local at = g * 5 - 1
  local before, count, own_wake = tonumber(counts[at]) or 0, tonumber(counts[at + 1]) or 0, tonumber(counts[at + 2])
  local leaves_none = counts[at + 4] == 'off' or counts[at + 4] == 'read_only'
  local after = before + group.weight
  if group.added > 0 then
    sliced('ZADD', group.messages, group.zadd)
    if counts[at + 3] then -- a message brings an archived thread back
      redis.call('HDEL', tokens, '*away:' .. group.thread)
    end
    local place = #fields
    fields[place + 1], fields[place + 2] = group.thread, string.format('%d', after)
    fields[place + 3], fields[place + 4] = '#' .. group.thread, string.format('%d', count + group.added)
    grown = grown + (leaves_none and 0 or group.weight)
  end
  if group.added > 0 or group.head then
    ids.save(group.set, group.head, group.history ~= '-' and group.head)
  end
  for _, id in ipairs(group.retracted and group.again or {}) do
    if group.retracted[id] then
      group.retracted[id] = nil
      ids.retract(group.known, group.retracted)
    end
  end
  local never_due = leaves_none and counts[1]
  if not never_due and (own_wake or (scope == 'thread' and not wake)) then
    if count + group.added > 0 and (count == 0 or not own_wake or after >= own_wake) then
      names[#names + 1] = group.name
    end
  elseif not never_due and count + group.added > 0 then
    by_resource = true
  end
end
if fields[1] then
  fields[#fields + 1] = '*'
  fields[#fields + 1] = string.format('%d', grown)
  if not counts[1] then -- the first message of a resource: nothing was accepted that is not known
    fields[#fields + 1] = '*ids'
    fields[#fields + 1] = '1'
  end
  if not counts[3] then
    fields[#fields + 1] = '*key'
    fields[#fields + 1] = fresh
  end
  sliced('HSET', tokens, fields)
end
for side = 1, owed and 2 or 0 do
  if last[side] > 0 then
    local of, paid = side == 1 and pace or pusher_pace, {'messages', string.format('%.6f', owed[side * 2 - 1]), 'bytes', string.format('%.6f', owed[side * 2])}
    redis.call('HSET', of, 'at', string.format('%.0f', now), unpack(paid))
    redis.call('EXPIRE', of, math.ceil(math.min(last[side], 86400)) + 1)
  end
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
