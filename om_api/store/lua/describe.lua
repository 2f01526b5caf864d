-- describe(state, known, messages, tokens, threads; thread, archived, n, [field, value]...)
-- Says something of a thread that there is: n fields of its hash, of which '' takes one out. `archived` is '1' or '0', '' leaves that
-- as it is. An archived thread is one that the field `*away:` of the tokens names: the first message that is accepted takes it out.
-- Returns 'changed', 'unknown' where there is no such thread, or {'alias', thread} for what became an alias.
local state, known, messages, tokens, threads, thread, archived, n = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1], ARGV[2], tonumber(ARGV[3])

local stands = redis.call('HGET', known, '=')
if stands then
  return {'alias', stands}
end
if redis.call('EXISTS', state, known, messages) == 0 and not redis.call('ZSCORE', threads, thread) then
  return 'unknown'
end
redis.call('HLEN', state)
redis.call('HLEN', tokens)
for slot = 4, math.min(3 + 2 * n, #ARGV - 1), 2 do
  if ARGV[slot + 1] == '' then
    redis.call('HDEL', state, ARGV[slot])
  else
    redis.call('HSET', state, ARGV[slot], ARGV[slot + 1])
  end
end
if archived == '1' then
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('HSET', state, 'archived_at', string.format('%d', now))
  redis.call('HSET', tokens, '*away:' .. thread, '1')
elseif archived == '0' then
  redis.call('HDEL', state, 'archived_at')
  redis.call('HDEL', tokens, '*away:' .. thread)
end
return 'changed'
