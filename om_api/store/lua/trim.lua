-- trim(rejected, tokens; added, most, most_bytes)
-- Has a quarantine to which `added` entries came hold no more than it may: when it is full a tenth of it goes, and is counted. What
-- was never accepted goes first, the oldest before the others, and what does not fit by itself. What no model could observe was
-- accepted, and is all there is of it once its source has expired: it stays as long as it fits. Of these the newest go, whose text
-- still stands behind the placeholder. `*rejected` in tokens is how many bytes were added to a long one: all is read only when that
-- is too much.
-- Returns how many went.
local rejected, tokens = KEYS[1], KEYS[2]
local added, most, most_bytes = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local function size(entries)
  local bytes = 0
  for _, entry in ipairs(entries) do
    bytes = bytes + #entry
  end
  return bytes
end

local length, known = redis.call('LLEN', rejected), redis.call('HGET', tokens, '*rejected')
if added == 0 then
  return 0
end
if known and added <= most and length <= most then
  local bytes = tonumber(known) + size(redis.call('LRANGE', rejected, -added, -1))
  if bytes <= most_bytes then
    redis.call('HSET', tokens, '*rejected', bytes)
    return 0
  end
end
local entries = redis.call('LRANGE', rejected, 0, -1)
local bytes = size(entries)
if length <= most and bytes <= most_bytes then
  if bytes > most_bytes / 10 then
    redis.call('HSET', tokens, '*rejected', bytes)
  end
  return 0
end

-- inside a message every quote is escaped, so that no text can look like a kind
local function is_unaccepted(entry)
  local kind = string.match(entry, '"kind":"(%a+)"')
  return kind == 'malformed' or kind == 'changed' or kind == 'surplus' or kind == 'ownerless' -- `surplus` of older versions
end

local keep, kept, held = {}, 0, 0
local function fit(place)
  if kept < most * 0.9 and held + #entries[place] <= most_bytes * 0.9 then
    keep[place], kept, held = true, kept + 1, held + #entries[place]
  end
end
for place = 1, length do
  if not is_unaccepted(entries[place]) then
    fit(place)
  end
end
for place = length, 1, -1 do
  if is_unaccepted(entries[place]) then
    fit(place)
  end
end

local gone = length - kept
if gone > kept then
  redis.call('UNLINK', rejected)
end
for place = 1, length do
  if gone > kept and keep[place] then
    redis.call('RPUSH', rejected, entries[place])
  elseif gone <= kept and not keep[place] then
    redis.call('LSET', rejected, place - 1, '')
  end
end
redis.call('LREM', rejected, 0, '')
redis.call('HSET', tokens, '*rejected', held)
redis.call('HINCRBY', tokens, '*dropped', gone)
return gone
