-- note(record, tokens; epoch, limits, drain, wake_field, wake, [forced, was, becomes]...)
-- Writes down what a look decided: the limits in force, from where on a push is due, what to drain ('' leaves it), and which
-- forced requests become what ('' answers them; each only while it still is the request that was read). Creates neither record
-- nor counters.
-- Returns {'noted', unsealed messages' tokens, due from} or {'superseded'}.
local record, tokens, epoch, limits, drain, wake_field, wake = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if (redis.call('HGET', record, 'epoch') or '') ~= epoch then
  return {'superseded'}
end
local unsealed = redis.call('HGET', tokens, '*')
if epoch ~= '' then
  if redis.call('HGET', record, 'limits') ~= limits then
    redis.call('HSET', record, 'limits', limits)
  end
  if drain ~= '' then
    redis.call('HSET', record, 'drain', drain)
  end
end
for slot = 6, #ARGV, 3 do
  local forced, was, becomes = unpack(ARGV, slot, slot + 2)
  if redis.call('HGET', record, forced) == was then
    if becomes == '' then
      redis.call('HDEL', record, forced)
    else
      redis.call('HSET', record, forced, becomes)
    end
  end
end
if unsealed and redis.call('HGET', tokens, wake_field) ~= wake then
  redis.call('HSET', tokens, wake_field, wake)
end
return {'noted', unsealed or '0', wake}
