-- settle(spent; entry, calls, tokens, micros, billed, [field, amount]...)
-- Puts what a call used in the place of what was reserved for it, once: a repetition, or an entry that nobody knows, changes
-- nothing. `calls` is 1, or 0 for a call that was not made after all, or that no budget counts; `billed` is what it cost.
-- Returns 'superseded', or {'settled', what all settled calls of the day cost}.
local spent, entry, calls, tokens, micros = KEYS[1], 'open|' .. ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local billed = ARGV[5]

local held_tokens, held_micros = string.match(redis.call('HGET', spent, entry) or '', '^(%d+)|(%d+)$')
if not held_tokens then
  return 'superseded'
end
redis.call('HDEL', spent, entry)
redis.call('HINCRBY', spent, 'all|calls', calls - 1)
redis.call('HINCRBY', spent, 'all|tokens', string.format('%d', tokens - held_tokens))
redis.call('HINCRBY', spent, 'all|micros', string.format('%d', micros - held_micros))
for slot = 6, #ARGV, 2 do
  redis.call('HINCRBY', spent, ARGV[slot], ARGV[slot + 1])
end
if billed == '0' then
  return {'settled', '0'}
end
redis.call('HINCRBY', spent, 'billed|micros', billed)
return {'settled', redis.call('HGET', spent, 'billed|micros')}
