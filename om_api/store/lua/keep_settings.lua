-- keep_settings(settings; name, was, text, most, longest, [other, was]...)
-- Puts a text in the place of an entry of the settings, or an entry that is new, unless it is not what it `was`, "" of none: of two
-- who change one at once, the second is told. An empty text removes the entry. Nor is it put there where an `other` entry, on which
-- the change relies, is not what it `was`: of two memories that compose each other at once, the second is told.
-- Returns 'kept', 'superseded', or 'full' if there are `most` entries already, or all of them would exceed `longest` bytes, which
-- is all that readers take.
local settings, name, was, text = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local most, longest = tonumber(ARGV[4]), tonumber(ARGV[5])

local stands = redis.call('HGET', settings, name)
if (stands or '') ~= was then
  return 'superseded'
end
for i = 6, #ARGV, 2 do
  if (redis.call('HGET', settings, ARGV[i]) or '') ~= ARGV[i + 1] then
    return 'superseded'
  end
end
if text == '' then
  redis.call('HDEL', settings, name)
  return 'kept'
end
if not stands and redis.call('HLEN', settings) >= most then
  return 'full'
end
local bytes = #name + #text
for _, other in ipairs(redis.call('HKEYS', settings)) do
  if other ~= name then
    bytes = bytes + #other + redis.call('HSTRLEN', settings, other)
  end
end
if bytes > longest then
  return 'full'
end
redis.call('HSET', settings, name, text)
return 'kept'
