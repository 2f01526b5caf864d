-- draft(record, draft; epoch, generation, ttl, text)
-- Keeps a reflection thought ahead of need until its commit is due; it covers nothing before `reflect` says so.
-- Returns 'buffered' or 'superseded' when the memory or its generation is no longer the one that was read.
local record, draft, epoch, generation, ttl, text = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local version = redis.call('HMGET', record, 'epoch', 'generation')
if version[1] ~= epoch or version[2] ~= generation then
  return 'superseded'
end
redis.call('SET', draft, text, 'EX', ttl)
return 'buffered'
