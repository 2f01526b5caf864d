-- settings(settings; known, most, longest)
-- Reads the settings that stand in the store: whoever looks every second is sent them when they are others than those `known`.
-- Of more than `most` entries, or more than `longest` bytes in all, none is read: a reader goes on with what it has.
-- Returns the digest, "" of none, then names and texts by turns; the digest alone where it is known; or what they are instead.
local settings, known, most, longest = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local kind = redis.call('TYPE', settings).ok
if kind == 'none' then
  return {''}
elseif kind ~= 'hash' then
  return {'kind', kind}
end
local entries = redis.call('HLEN', settings)
if entries > most then
  return {'entries', tostring(entries)}
end
local bytes, digests, names = 0, {}
names = redis.call('HKEYS', settings)
table.sort(names)
for _, name in ipairs(names) do
  bytes = bytes + #name + redis.call('HSTRLEN', settings, name)
end
if bytes > longest then
  return {'bytes', tostring(bytes)}
end
local digest_of = redis.sha1hex
if not digest_of then -- as in fakeredis: there all is sent each time
  digest_of = function() return '' end
end
local found = {''}
for _, name in ipairs(names) do
  local text = redis.call('HGET', settings, name)
  digests[#digests + 1] = digest_of(name) .. digest_of(text)
  found[#found + 1] = name
  found[#found + 1] = text
end
found[1] = digest_of(table.concat(digests))
return known ~= '' and found[1] == known and {known} or found
