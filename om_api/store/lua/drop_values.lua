-- drop_values(redacted; kept, marked, [name]...)
-- Removes encrypted values whose placeholders stand nowhere any more, and the mark of a removal. `kept` is how often values had been
-- kept before a client looked where their placeholders stand, `marked` what the mark was: a later one is of another removal, and stays.
-- Time 0: a client finds a value's placeholder nowhere. Time 1: a message that says the value again has it kept, and is pushed. Time 2:
-- nothing is removed, and the client looks again.
-- Returns how many were removed, or -1 when any value was kept meanwhile.
local redacted, kept, marked = KEYS[1], ARGV[1], ARGV[2]

if (redis.call('HGET', redacted, '#') or '0') ~= kept then
  return -1
end
local dropped = 0
for from = 3, #ARGV, 1000 do
  dropped = dropped + redis.call('HDEL', redacted, unpack(ARGV, from, math.min(from + 999, #ARGV)))
end
if redis.call('HGET', redacted, '~') == marked then
  redis.call('HDEL', redacted, '~')
end
return dropped
