-- read_for(record, thread; epoch, model)
-- Notes for which of the Actor's models a thread is read, for which one before that, and since when (server's ms): written when it
-- becomes another, and not with each context. Creates nothing for a memory that is gone.
-- Returns 'noted' or 'superseded'.
local record, thread, epoch, model = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if redis.call('HGET', record, 'epoch') ~= epoch then
  return 'superseded'
end
local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
local before = redis.call('HGET', thread, 'model')
if before == model then
  return 'noted'
end
redis.call('HSET', thread, 'model', model, 'model_before', before or '', 'model_at', now)
return 'noted'
