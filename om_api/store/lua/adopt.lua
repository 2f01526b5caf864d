-- adopt(messages, tokens, record, seen, seen_before, rejected, threads, [covering]...; window, window_ms, thread, card, count, weight, epoch, seq, fresh_key, [member, id, fingerprint, tokens, score, malformed, surplus]...)
-- Counts what plain ZADDs left in messages. Every raw member is named with what the caller made of it: `score` when it must be
-- repaired, `malformed` when it cannot be accepted (the entry for `rejected`), `surplus` the entry should it be one too many.
-- A byte-identical copy of a member that a covering set (sealed or source) holds is dropped: it is covered already.
-- A member whose fingerprint is in `seen` is counted. Of the others, an id that is in `seen` was accepted with other bytes, and of
-- several with one id the first stays: the rest is surplus, if all of them are known to be uncounted. Afterwards the fingerprints
-- of all that is raw are in `seen`, so that the next adoption can tell. What is kept brings the key that contexts are signed with.
-- Returns {now, 'clock'}, 'superseded' when anything is no longer as it was read, else {kept, dropped, rejected, tokens}.
local messages, tokens, record, seen, seen_before, rejected, threads = unpack(KEYS, 1, 7)
local window, window_ms, thread, card, count, weight, epoch, seq, fresh = unpack(ARGV, 1, 9)

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if math.floor(now / tonumber(window_ms)) ~= tonumber(window) then
  return {now, 'clock'}
end
local counts = redis.call('HMGET', tokens, '#' .. thread, thread, '*')
local version = redis.call('HMGET', record, 'epoch', 'seq')
if redis.call('ZCARD', messages) ~= tonumber(card) or (counts[1] or '0') ~= count or (counts[2] or '0') ~= weight
    or (version[1] or '') ~= epoch or (version[2] or '0') ~= seq or (#ARGV - 9) / 7 ~= tonumber(card) then
  return 'superseded'
end
for slot = 10, #ARGV, 7 do
  if not redis.call('ZSCORE', messages, ARGV[slot]) then
    return 'superseded'
  end
end
redis.call('LLEN', rejected)
redis.call('ZCARD', threads)

local function accepted(entry)
  return redis.call('SISMEMBER', seen, entry) == 1 or redis.call('SISMEMBER', seen_before, entry) == 1
end

local function covered(member)
  for k = 8, #KEYS do
    if redis.call('ZSCORE', KEYS[k], member) then
      return true
    end
  end
  return false
end

-- What cannot be told apart is kept: only when every member that might be uncounted is uncounted, one of them may be surplus.
local uncounted, doubtful = tonumber(card) - tonumber(count), 0
for slot = 10, #ARGV, 7 do
  local member, _, fingerprint, _, _, malformed = unpack(ARGV, slot, slot + 5)
  if malformed ~= '' or covered(member) then
    uncounted = uncounted - 1
  elseif not accepted(fingerprint) then
    doubtful = doubtful + 1
  end
end
local certain = uncounted >= doubtful

local drop, reject, repair, ids, taken, kept, sum, last = {}, {}, {}, {}, {}, 0, 0, 0
for slot = 10, #ARGV, 7 do
  local member, id, fingerprint, size, score, malformed, surplus = unpack(ARGV, slot, slot + 6)
  if malformed ~= '' then
    reject[#reject + 1] = {member, malformed}
  elseif covered(member) then
    drop[#drop + 1] = member
  elseif certain and not accepted(fingerprint) and (taken[id] or accepted(id)) then
    reject[#reject + 1] = {member, surplus}
  else
    taken[id] = true
    kept, sum = kept + 1, sum + tonumber(size)
    if uncounted > 0 and not accepted(id) then
      ids[#ids + 1] = id
    end
    ids[#ids + 1] = fingerprint
    if score ~= '' then
      repair[#repair + 1] = {score, member}
    end
    last = math.max(last, tonumber(score ~= '' and score or redis.call('ZSCORE', messages, member)))
  end
end

for _, member in ipairs(drop) do
  redis.call('ZREM', messages, member)
end
for _, entry in ipairs(reject) do
  redis.call('ZREM', messages, entry[1])
  redis.call('RPUSH', rejected, entry[2])
end
for _, entry in ipairs(repair) do
  redis.call('ZADD', messages, 'XX', entry[1], entry[2])
end
for from = 1, #ids, 1000 do
  redis.call('SADD', seen, unpack(ids, from, math.min(from + 999, #ids)))
end
if #ids > 0 then
  redis.call('EXPIRE', seen, math.floor(tonumber(window_ms) / 500))
end
if kept > 0 then
  redis.call('HSET', tokens, thread, string.format('%d', sum), '#' .. thread, kept)
  redis.call('HSETNX', tokens, '*key', fresh)
  redis.call('ZADD', threads, 'GT', string.format('%d', math.min(last, now)), thread)
else
  redis.call('HDEL', tokens, thread, '#' .. thread)
end
if kept > 0 or counts[3] then
  local total = (tonumber(counts[3]) or 0) - (tonumber(counts[2]) or 0) + sum
  redis.call('HSET', tokens, '*', string.format('%d', math.max(total, 0)))
end
return {kept, #drop, #reject, string.format('%d', sum)}
