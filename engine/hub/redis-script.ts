/*
 * The script that a member's exchange is, in Redis' Lua. Times are the store's own. `q.base`: entries, members and counters, whose keys
 * come first; without it, limits alone, on another node of a cluster. It uses few commands, which are all that an account needs.
 */

/** Time without a push after which a member may be using its share of each limit, which the others don't get then, in milliseconds. */
const staleMs = 400;
/**
 * How long members have to report what they admitted after the store was emptied, in milliseconds: no lease is granted before. Twice a
 * member's longest pause between two tries, its wait for the next tick, and the try itself. A store that no member knew before has lost
 * nothing, and grants leases at once; the first member that knew it before reveals a loss, within a tick.
 */
const freshMs = 3_000;
/** Longer than blobs live: a full store drops those first. */
const keptMs = 86_400_000;
/** Lifetime of the number of a member's last batch, in milliseconds. */
const batchMs = 86_400_000;
/** Counters outlive the month that they may be of. The epoch lives as long, since counters are those of one epoch. */
const sumsMs = 66 * 86_400_000;
const maxEntries = 10_000;
const maxMembers = 1_000;

/** Entries per answer; the rest follows at the next exchange. */
const maxNewer = 1_000;

export const script = `
local q = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fresh, lost, present = q.fresh, q.lost, q.present
local out = {'', 0, '1', 0, {}, {}, {}, {}, {}}

if q.base then
  local known = {}
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do known[fields[i]] = fields[i + 1] end
  local epoch, born, version = known.e, tonumber(known.b), tonumber(known.n)
  if not epoch then
    epoch, born, version = q.epoch, now, 0
    redis.call('HSET', KEYS[1], 'e', epoch, 'b', born, 'n', version)
  end
  -- The member doesn't know of the loss yet; after this answer it reports what it has admitted.
  lost = q.known ~= '' and q.known ~= epoch
  if lost and not known.l then redis.call('HSET', KEYS[1], 'l', 1) end
  fresh = (lost or known.l) and now < born + ${freshMs}
  local before = version
  for _, f in ipairs(q.facts) do
    local old = redis.call('HGET', KEYS[2], f[1])
    local expires = now + f[2]
    local oldExpires = old and tonumber(string.match(old, '^%d+|(%d+)|')) or 0
    if expires > now and oldExpires <= expires then
      version = version + 1
      redis.call('HSET', KEYS[2], f[1], version .. '|' .. expires .. '|' .. q.member .. '|' .. f[3])
    end
  end
  if version > before then redis.call('HSET', KEYS[1], 'n', version) end
  local since = q.known == epoch and q.version or 0
  local sent = version
  if version > since then
    local newer, count = {}, 0
    local all = redis.call('HGETALL', KEYS[2])
    for i = 1, #all, 2 do
      local number, expires, by, value = string.match(all[i + 1], '^(%d+)|(%d+)|([^|]*)|(.*)$')
      if tonumber(expires) <= now then redis.call('HDEL', KEYS[2], all[i])
      else
        count = count + 1
        if count > ${maxEntries} then redis.call('HDEL', KEYS[2], all[i])
        elseif tonumber(number) > since then newer[#newer + 1] = {tonumber(number), all[i], expires - now, value, by} end
      end
    end
    table.sort(newer, function(one, other) return one[1] < other[1] end)
    for i = 1, math.min(#newer, ${maxNewer}) do
      local f = newer[i]
      if f[5] ~= q.member then table.insert(out[5], {f[2], f[3], f[4]}) end
    end
    if #newer > ${maxNewer} then sent = newer[${maxNewer}][1] end
  end

  present = 1
  local members = 0
  local who = redis.call('HGETALL', KEYS[3])
  for i = 1, #who, 2 do
    local seen, of, about = string.match(who[i + 1], '^(%d+)|(%d+)|(.*)$')
    if who[i] ~= q.member then
      if tonumber(seen) < now - q.memberMs then redis.call('HDEL', KEYS[3], who[i])
      elseif members < ${maxMembers} then
        members = members + 1
        table.insert(out[6], {who[i], about})
        if tonumber(seen) < now - ${staleMs} then present = present - 1 / tonumber(of) end
      end
    end
  end
  if present < 0 then present = 0 end
  if q.leaves then redis.call('HDEL', KEYS[3], q.member)
  else
    redis.call('HSET', KEYS[3], q.member, now .. '|' .. (members + 1) .. '|' .. q.about)
    table.insert(out[6], {q.member, q.about})
  end

  local applied = tonumber(redis.call('GET', KEYS[4]) or '0')
  if q.batch and q.batch[1] > applied then
    applied = q.batch[1]
    for _, sum in ipairs(q.batch[2]) do
      redis.call('HINCRBY', KEYS[sum[1]], epoch .. sum[2], sum[3])
      redis.call('PEXPIRE', KEYS[sum[1]], ${sumsMs})
    end
    redis.call('SET', KEYS[4], applied, 'PX', ${batchMs})
  end
  for _, total in ipairs(q.totals) do
    table.insert(out[7], redis.call('HGET', KEYS[total[1]], epoch .. total[2]) or '0')
  end
  redis.call('PEXPIRE', KEYS[1], ${sumsMs})
  for i = 2, 3 do redis.call('PEXPIRE', KEYS[i], ${keptMs}) end
  out[1], out[2], out[4] = epoch, sent, applied
  out[3] = (fresh and 'fresh' or 'settled') .. ' ' .. present .. ' ' .. string.format('%.0f', now)
end

for _, w in ipairs(q.windows) do
  local key, max, slotMs, want = KEYS[w[1]], w[2], w[3] / 60, w[4]
  local slot = math.floor(now / slotMs)
  local counts, changed, used = {}, {}, 0
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local at = tonumber(fields[i])
    if at and at <= slot - 62 then redis.call('HDEL', key, fields[i])
    elseif at then counts[at] = tonumber(fields[i + 1]) end
  end
  local function add(at, by)
    if by == 0 or at <= slot - 62 or at > slot then return end
    counts[at] = math.max(0, (counts[at] or 0) + by)
    changed[at] = true
  end
  for _, back in ipairs(w[5]) do add(back[1], -back[2]) end
  if #w[7] > 0 and redis.call('HSETNX', key, 'm' .. q.member, 1) == 1 then
    for _, own in ipairs(w[7]) do add(slot - own[1], own[2]) end
  elseif not lost then add(slot, w[6]) end
  for _, count in pairs(counts) do used = used + count end
  local granted = 0
  if not fresh then granted = math.min(want, math.max(0, math.floor(max * present) - used)) end
  add(slot, granted)
  local ages = {}
  for at, count in pairs(counts) do
    if count > 0 then table.insert(ages, slot - at) table.insert(ages, count) end
  end
  for at in pairs(changed) do
    if counts[at] > 0 then redis.call('HSET', key, at, counts[at]) else redis.call('HDEL', key, at) end
  end
  redis.call('PEXPIRE', key, math.max(${keptMs}, w[3] * 2))
  table.insert(out[8], {granted, slot, ages})
end

for _, h in ipairs(q.holds) do
  local key, max, want = KEYS[h[1]], h[2], h[3]
  local others = 0
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local count, seen = string.match(fields[i + 1], '^(%d+)|(%d+)$')
    if fields[i] ~= q.member then
      if tonumber(seen) < now - q.memberMs then redis.call('HDEL', key, fields[i]) else others = others + count end
    end
  end
  local held = math.min(want, math.max(0, max - others))
  if held > 0 and not q.leaves then redis.call('HSET', key, q.member, held .. '|' .. now)
  else redis.call('HDEL', key, q.member) end
  redis.call('PEXPIRE', key, ${keptMs})
  table.insert(out[9], {held, math.max(0, max - others - held)})
end
return out
`;
