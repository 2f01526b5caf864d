-- recognise(known; [id]...)
-- uses ids
-- What is known of ids, each given as the 7 bytes of its hash. Changes nothing.
-- Returns the record of each, '' for one that is not known.
local known, marks = KEYS[1], ARGV

local set, replies = ids.open(known, marks), {}
for i = 1, #marks do
  replies[i] = ids.find(set, marks[i]) or ''
end
return replies
