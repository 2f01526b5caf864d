-- draft(record, observations, draft; epoch, generation, was, review, asked_at, expires_at, ttl, text, [seq, member]...)
-- Keeps a reflection that covers nothing before `reflect` says so: thought ahead of need (`review` ''), waiting for its review, or
-- sent back (`expires_at` 0). `was` is the review that was read: what it stands for has not been decided meanwhile.
-- Time 0: a Reflector thinks of o3. Time 1: its owner forgets o3. Time 2: what would be kept here tells of it; nothing changes.
-- Returns 'buffered' or 'superseded' when the memory, its generation, its review or what is covered is no longer the one that was read.
local record, observations, draft = unpack(KEYS, 1, 3)
local epoch, generation, was, review, asked_at, expires_at, ttl, text = unpack(ARGV, 1, 8)

local version = redis.call('HMGET', record, 'epoch', 'generation', 'proposed')
local stands = version[3] or ''
if version[1] ~= epoch or version[2] ~= generation or (stands ~= was and stands ~= review) then
  return 'superseded'
end
for i = 9, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', observations, ARGV[i + 1]) or '') ~= tonumber(ARGV[i]) then
    return 'superseded'
  end
end
redis.call('SET', draft, text, 'EX', ttl)
if review ~= '' then
  redis.call('HSET', record, 'proposed', review, 'proposed_at', asked_at, 'proposed_until', expires_at)
elseif version[3] then
  redis.call('HDEL', record, 'proposed', 'proposed_at', 'proposed_until')
end
return 'buffered'
