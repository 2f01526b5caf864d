-- read_for(record, threads, thread; epoch, id, model)
-- Notes for which of the Actor's models a thread is read, for which one before that, and since when (server's ms): written when it
-- becomes another, and not with each context. Creates nothing for a memory that is gone, nor for a thread that is not listed: nobody
-- would find it to clear it.
-- Returns 'noted' or 'superseded'.
local record, threads, thread, epoch, id, model = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]

if redis.call('HGET', record, 'epoch') ~= epoch or not redis.call('ZSCORE', threads, id) then
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
