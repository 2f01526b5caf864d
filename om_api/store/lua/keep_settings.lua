-- keep_settings(settings, owners; name, was, text, most, longest, by, most_of_key, longest_of_key, [other, was]...)
-- Puts a text in the place of an entry of the settings, or an entry that is new, unless it is not what it `was`, "" of none: of two
-- who change one at once, the second is told. An empty text removes the entry. Nor is it put there where an `other` entry, on which
-- the change relies, is not what it `was`: of two memories that compose each other at once, the second is told.
-- `owners` maps an entry to the API key that saved it last, here `by` ('' = none, such as the command line).
-- Returns 'kept', 'superseded', or 'full' if there are `most` entries already, or all of them would exceed `longest` bytes, which
-- is all that readers take; 'full_of_key' if the entries of `by` would exceed `most_of_key`, or `longest_of_key` bytes.
local settings, owners, name, was, text = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local most, longest = tonumber(ARGV[4]), tonumber(ARGV[5])
local by, most_of_key, longest_of_key = ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8])

local stands = redis.call('HGET', settings, name)
if (stands or '') ~= was then
  return 'superseded'
end
for i = 9, #ARGV, 2 do
  if (redis.call('HGET', settings, ARGV[i]) or '') ~= ARGV[i + 1] then
    return 'superseded'
  end
end
if text == '' then
  redis.call('HDEL', settings, name)
  redis.call('HDEL', owners, name)
  return 'kept'
end
if not stands and redis.call('HLEN', settings) >= most then
  return 'full'
end
local bytes, own, own_bytes = #name + #text, 1, #name + #text
local owner_of, listed = {}, redis.call('HGETALL', owners)
for i = 1, #listed, 2 do
  owner_of[listed[i]] = listed[i + 1]
end
for _, other in ipairs(redis.call('HKEYS', settings)) do
  if other ~= name then
    local size = #other + redis.call('HSTRLEN', settings, other)
    bytes = bytes + size
    if owner_of[other] == by then
      own, own_bytes = own + 1, own_bytes + size
    end
  end
end
if bytes > longest then
  return 'full'
end
if by ~= '' and (own > most_of_key or own_bytes > longest_of_key) then
  return 'full_of_key'
end
redis.call('HSET', settings, name, text)
if by == '' then
  redis.call('HDEL', owners, name)
else
  redis.call('HSET', owners, name, by)
end
return 'kept'
