-- restore(record, observations, reflections, draft, fresh, [reflected]...; epoch, generation, id, next, tokens, grown, keep, ttl, origin, pinned, pins, back, [place, seq, member]..., [seq, member]...)
-- Makes an earlier generation's text, or a corrected one (`origin`), the next generation, with what is pinned (`pins`, '' = nothing). The first `back` observations named come back from the histories (`place`
-- says from which of them) with the seqs they had; the others named are what that text stands for: they go to the history of the
-- new generation, which lives `ttl` seconds (0 = as long as the memory). Everything else stays, what was activated since above all.
-- Time 0: an owner's undo is planned: o7 comes back. Time 1: a Reflector commits another generation over it. Time 2: this commit
-- would put a text in force that stands for less than what is gone; the generation has moved on, nothing changes. So it is with a line
-- that was `pinned`, or no longer is: the text was made of what was read.
-- Returns 'restored' or 'superseded'.
local record, observations, reflections, draft, fresh = unpack(KEYS, 1, 5)
local epoch, generation, id, next_, tokens, grown, keep, ttl, origin, pinned, pins, back = unpack(ARGV, 1, 12)

local version = redis.call('HMGET', record, 'epoch', 'generation', 'reflection', 'pins')
if version[1] ~= epoch then
  return 'superseded'
end
if version[3] == id then
  return 'restored'
end
if version[2] ~= generation or (version[4] or '') ~= pinned then
  return 'superseded'
end
local away = 13 + 3 * tonumber(back)
for slot = 13, away - 1, 3 do
  local place, seq, member = unpack(ARGV, slot, slot + 2)
  if tonumber(redis.call('ZSCORE', KEYS[5 + tonumber(place)], member) or '') ~= tonumber(seq) then
    return 'superseded'
  end
end
for slot = away, #ARGV, 2 do
  if tonumber(redis.call('ZSCORE', observations, ARGV[slot + 1]) or '') ~= tonumber(ARGV[slot]) then
    return 'superseded'
  end
end
redis.call('ZCARD', reflections)
redis.call('ZCARD', fresh)

local time = redis.call('TIME')
local now = string.format('%d', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))
for slot = 13, away - 1, 3 do
  local place, seq, member = unpack(ARGV, slot, slot + 2)
  redis.call('ZADD', observations, seq, member)
  redis.call('ZREM', KEYS[5 + tonumber(place)], member)
end
for slot = away, #ARGV, 2 do
  redis.call('ZADD', fresh, ARGV[slot], ARGV[slot + 1])
  redis.call('ZREM', observations, ARGV[slot + 1])
end
if tonumber(ttl) > 0 then
  redis.call('EXPIRE', fresh, tonumber(ttl))
end
redis.call('ZADD', reflections, tonumber(generation) + 1, next_)
redis.call('ZREMRANGEBYRANK', reflections, 0, -(tonumber(keep) + 1))
redis.call('HSET', record, 'generation', tonumber(generation) + 1, 'origin', origin, 'reflection', id, 'reflection_tokens', tokens, 'reflected_at', now, 'updated_at', now)
redis.call('HINCRBY', record, 'observation_tokens', grown)
redis.call('HINCRBY', record, 'observation_count', string.format('%d', tonumber(back) - (#ARGV - away + 1) / 2))
if pins ~= pinned then
  redis.call('HSET', record, 'pins', pins)
end
redis.call('UNLINK', draft)
return 'restored'
