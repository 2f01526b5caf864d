-- retract(known, state; head, most, gone, [id, quote]..., [id, quote]...)
-- uses ids
-- Sets messages aside that a conversation no longer has (`gone` of them), and takes back those that it has again. Each is named by the
-- 7 bytes of its id's hash; where it stands, and what covers it, does not change. The thread must still end with `head` (zeros: with
-- nothing). Of what may be noted already a quote is kept for contexts, the newest `most`: `retracted` says what holds no longer, and
-- `valid_again` what came back that the Observer may have left out, a line each: the id's hash in hex, a blank, and the quote.
-- Time 0: a client finds a raw message that its history no longer has. Time 1: a worker seals that, reads it, and has it noted.
-- Time 2: the message is retracted: it is known as sealed, and contexts say that the note no longer holds.
-- Time 0: a raw message is retracted. Time 1: it is sealed, and its chunk read without it. Time 2: the history has it again: what it
-- says stands in no note, so contexts say it.
-- Returns 'superseded' where anything was added meanwhile, and for an alias; else how many were retracted, or taken back.
local known, state, head, most, gone_n = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local marks = {}
for slot = 4, #ARGV, 2 do
  marks[#marks + 1] = ARGV[slot]
end
local set = ids.open(known, marks)
if set.alias or (redis.call('HGET', known, '^') or string.rep('\0', 7)) ~= head then
  return 'superseded'
end
local states, changed, lists = ids.retracted(known), 0, {}
for _, field in ipairs({'retracted', 'valid_again'}) do
  lists[field] = {}
  for line in string.gmatch(redis.call('HGET', state, field) or '', '[^\n]+') do
    table.insert(lists[field], line)
  end
end

local function hex(id)
  return (string.gsub(id, '.', function(each) return string.format('%02x', string.byte(each)) end))
end

-- Leaves the quotes of a message out of both lists, and puts one into `field`, if that is given.
local function quote(id, field, text)
  local begins = hex(id) .. ' '
  for name, list in pairs(lists) do
    local rest = {}
    for _, each in ipairs(list) do
      if string.sub(each, 1, #begins) ~= begins then
        rest[#rest + 1] = each
      end
    end
    if name == field and text ~= '' then
      rest[#rest + 1] = begins .. text
    end
    while #rest > most do
      table.remove(rest, 1)
    end
    lists[name] = rest
  end
end

for n, id in ipairs(marks) do
  local record, text = ids.find(set, id), ARGV[3 + n * 2]
  local is_raw = record and string.sub(record, 8, 9) == '\0\0'
  if n <= gone_n and record and not states[id] then
    states[id], changed = is_raw and 'r' or 'n', changed + 1
    quote(id, not is_raw and 'retracted', text)
  elseif n > gone_n and states[id] then
    quote(id, states[id] == 'r' and not is_raw and 'valid_again', text)
    states[id], changed = nil, changed + 1
  end
end
if changed == 0 then
  return 0
end
ids.retract(known, states)
for field, list in pairs(lists) do
  if list[1] then
    redis.call('HSET', state, field, table.concat(list, '\n'))
  else
    redis.call('HDEL', state, field)
  end
end
return changed
