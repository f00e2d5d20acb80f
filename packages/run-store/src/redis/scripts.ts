/**
 * The small atomic steps on Redis. None of them carries a run's payload, with one exception that says so. All keys of a
 * script share the hash tag of their run, so that they work on a Cluster too.
 *
 * Keys of a run: `v` waiting, `w` claimed, `l` the lease (its life is the key's), `c` token and fence of the last claim,
 * `d` the cell, `o` the outcome (`token` or `token:bytes`), `t:<token>` a taken copy.
 */
import { createHash } from 'node:crypto';

export interface RedisScript {
  readonly source: string;
  readonly sha1: string;
}

function script(source: string): RedisScript {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/**
 * Keys v w l c d t; arguments stamp (or ''), whether the cell counts ('any', 'empty', 'is'), the cell, retainMs. Like
 * CLAIM it reads the stamp in any case: what is no string fails there, before it was moved.
 */
export const TAKE: RedisScript = script(`
local v, w, l, c, d, t = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
if redis.call('EXISTS', t) == 1 then return 1 end
local source
if redis.call('EXISTS', v) == 1 then source = v
elseif redis.call('EXISTS', w) == 1 and redis.call('EXISTS', l) == 0 then source = w
else return 0 end
if redis.call('GETRANGE', source, 0, #ARGV[1] - 1) ~= ARGV[1] and ARGV[1] ~= '' then return 0 end
if ARGV[2] ~= 'any' then
  local cell = redis.call('GET', d)
  if ARGV[2] == 'empty' and cell then return 0 end
  if ARGV[2] == 'is' and cell ~= ARGV[3] then return 0 end
end
redis.call('RENAME', source, t)
redis.call('PEXPIRE', t, ARGV[4])
if source == w then redis.call('DEL', c) end
if redis.call('EXISTS', d) == 1 then redis.call('PEXPIRE', d, ARGV[4]) end
return 1
`);

/** Keys t v; argument ttlMs, '' for ever, or 'keep' for the life that the copy has. */
export const PUT_BACK: RedisScript = script(`
if redis.call('EXISTS', KEYS[2]) == 1 or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('RENAME', KEYS[1], KEYS[2])
if ARGV[1] == '' then redis.call('PERSIST', KEYS[2])
elseif ARGV[1] ~= 'keep' then redis.call('PEXPIRE', KEYS[2], ARGV[1]) end
return 1
`);

/**
 * Keys v w; arguments value, length of the stamp, ttlMs or ''. The exception: `ifAbsent` has to look at two keys and
 * write one in a single step, and it is not the common store.
 */
export const PUT_IF_ABSENT: RedisScript = script(`
for i = 1, 2 do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    if redis.call('GETRANGE', KEYS[i], 0, ARGV[2] - 1) == string.sub(ARGV[1], 1, ARGV[2]) then return 1 end
    return 0
  end
end
if ARGV[3] == '' then redis.call('SET', KEYS[1], ARGV[1]) else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3]) end
return 1
`);

/** Keys v w l c d; arguments ttlMs, stamp ('' for any run). A claimed run keeps two leases all the same. */
export const TOUCH: RedisScript = script(`
local claimedMs = math.max(tonumber(ARGV[1]), 2 * redis.call('PTTL', KEYS[3]))
local function touch(key, ms)
  if ARGV[2] ~= '' and redis.call('GETRANGE', key, 0, #ARGV[2] - 1) ~= ARGV[2] then return 0 end
  return redis.call('PEXPIRE', key, ms)
end
local waits, held = touch(KEYS[1], ARGV[1]), touch(KEYS[2], claimedMs)
if waits + held == 0 then return 0 end
if held == 1 then redis.call('PEXPIRE', KEYS[4], claimedMs) end
redis.call('PEXPIRE', KEYS[5], ARGV[1])
return 1
`);

/** Keys v w l c d o; argument stamp: only a run that carries it is removed, with what is its own; '' for any. */
export const REMOVE: RedisScript = script(`
local removed = 0
for i = 1, 2 do
  if ARGV[1] == '' or redis.call('GETRANGE', KEYS[i], 0, #ARGV[1] - 1) == ARGV[1] then
    removed = removed + redis.call('UNLINK', KEYS[i])
  end
end
if removed == 0 and ARGV[1] ~= '' then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('UNLINK', KEYS[5]) end
if redis.call('EXISTS', KEYS[2]) == 0 then redis.call('UNLINK', KEYS[3], KEYS[4]) end
redis.call('UNLINK', KEYS[6])
return removed
`);

/** Keys v d; arguments stamp, whether the cell is 'empty' or 'is', what it is, what it becomes. */
export const SWAP: RedisScript = script(`
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
local cell = redis.call('GET', KEYS[2])
if ARGV[2] == 'empty' and cell then return 0 end
if ARGV[2] == 'is' and cell ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[2], ARGV[4])
local life = redis.call('PTTL', KEYS[1])
if life >= 0 then redis.call('PEXPIRE', KEYS[2], life) end
return 1
`);

/** A claimed run outlives its lease by as long again; shared by CLAIM and EXTEND. */
const OUTLIVE = `
local function outlive(w, c, lease)
  local life = redis.call('PTTL', w)
  if life < 0 then redis.call('PERSIST', c) return end
  if life < 2 * lease then
    life = 2 * lease
    redis.call('PEXPIRE', w, life)
  end
  redis.call('PEXPIRE', c, life)
end
`;

/** Keys v w l c; arguments token, leaseMs, stamp (or ''). The fence is the server's time in µs, or one more than the last. */
export const CLAIM: RedisScript = script(`${OUTLIVE}
local v, w, l, c = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, lease = ARGV[1], tonumber(ARGV[2])
local holder = redis.call('GET', l)
local last = redis.call('GET', c)
last = last and tonumber(string.match(last, ':(%d+)$')) or 0
local claimed = redis.call('EXISTS', w) == 1
if holder and claimed then
  if holder == token then return {'claimed', string.format('%.0f', last)} end
  return {'held', redis.call('PTTL', l)}
end
local source
if redis.call('EXISTS', v) == 1 then source = v elseif claimed then source = w else return {'missing'} end
if redis.call('GETRANGE', source, 0, #ARGV[3] - 1) ~= ARGV[3] and ARGV[3] ~= '' then return {'missing'} end
if source == v then redis.call('RENAME', v, w) end
local time = redis.call('TIME')
local fence = math.max(last + 1, time[1] * 1000000 + time[2])
local written = string.format('%.0f', fence)
redis.call('SET', c, token .. ':' .. written)
redis.call('SET', l, token, 'PX', lease)
outlive(w, c, lease)
return {'claimed', written}
`);

const OWNS = `
local function owns(c, token)
  local last = redis.call('GET', c)
  return last and string.sub(last, 1, #token + 1) == token .. ':'
end
`;

/** Keys w l c; arguments token, leaseMs. */
export const EXTEND: RedisScript = script(`${OUTLIVE}${OWNS}
if not owns(KEYS[3], ARGV[1]) or redis.call('EXISTS', KEYS[1]) == 0 then return 'stale' end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
outlive(KEYS[1], KEYS[3], tonumber(ARGV[2]))
return 'ok'
`);

/** Keys v w l c; argument token. The record of the claim stays, and tells a repeated release from a stale one. */
export const RELEASE: RedisScript = script(`${OWNS}
if not owns(KEYS[4], ARGV[1]) then return 'stale' end
if redis.call('EXISTS', KEYS[2]) == 1 and redis.call('RENAMENX', KEYS[2], KEYS[1]) == 0 then
  redis.call('UNLINK', KEYS[2])
end
redis.call('DEL', KEYS[3])
return 'ok'
`);

/** Keys w l c d o v; arguments token, value of the outcome, outcomeTtlMs. A cell beside a newer run is that run's. */
export const SETTLE: RedisScript = script(`${OWNS}
if owns(KEYS[3], ARGV[1]) and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
  if redis.call('EXISTS', KEYS[6]) == 0 then redis.call('UNLINK', KEYS[4]) end
  redis.call('SET', KEYS[5], ARGV[2], 'PX', ARGV[3])
  return 'ok'
end
local known = redis.call('GETRANGE', KEYS[5], 0, #ARGV[1])
if known == ARGV[1] or known == ARGV[1] .. ':' then return 'ok' end
return 'stale'
`);

/**
 * Keys part, dir; arguments principal, life of both in ms, the time before which entries are over, the score for dir.
 * The empty member keeps the key, and with it the key's life, when every run is gone.
 */
export const REFRESH_INDEX: RedisScript = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[3])
redis.call('ZADD', KEYS[1], '+inf', '')
redis.call('ZADD', KEYS[2], 'GT', ARGV[4], ARGV[1])
for i = 1, 2 do
  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
end
return 1
`);
