-- shared_up_to(record; epoch, seq, field)
-- Notes up to which observation another memory was told what it is to be told of this one; never back.
-- Returns 'added', or 'superseded' when the memory is another, or somebody came further.
local record = KEYS[1]
local epoch, seq, field = unpack(ARGV, 1, 3)

local known = redis.call('HMGET', record, 'epoch', field)
if (known[1] or '') ~= epoch or tonumber(known[2] or -1) >= tonumber(seq) then
  return 'superseded'
end
redis.call('HSET', record, field, seq)
return 'added'
