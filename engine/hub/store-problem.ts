import { errorCode } from '../model/fault.ts';

/** Errors of a store or its connection, with advice for an operator. The first match counts. */
const meanings: readonly (readonly [sign: string, meaning: string])[] = [
  ['ECONNREFUSED', 'it refuses connections: start it, or correct its address'],
  ['ENOTFOUND', 'its name is unknown: correct its address'],
  ['EAI_AGAIN', 'its name is unknown at present: look at the name server'],
  ['WRONGPASS', 'it knows no such user and password: correct them'],
  ['NOAUTH', 'it wants a password: add it to the address'],
  ['AUTH <password>', 'it has no password: remove it from the address'],
  ['NOPERM', 'its account lacks rights: grant those of docs/fleet.md'],
  ['NOPROTO', 'it is too old: Valkey 7.2 or Redis 6.0 is needed'],
  ["unknown command 'HELLO'", 'it is too old: Valkey 7.2 or Redis 6.0 is needed'],
  ['unknown command `HELLO`', 'it is too old: Valkey 7.2 or Redis 6.0 is needed'],
  ['READONLY', 'it is a read-only replica: name the primary, or its sentinels with FLEET.primary'],
  ['OOM', "its memory is full: raise its maxmemory, or set 'maxmemory-policy volatile-ttl'"],
  ['MISCONF', 'it stops writing because it cannot save: look at its log'],
  ['LOADING', 'it loads its data: wait'],
  ['MASTERDOWN', 'it is a replica without its primary: look at its log'],
  ['CLUSTERDOWN', 'its cluster is down: look at its log'],
  ['MOVED', 'it is a node of a cluster: list several of its nodes'],
  ['cluster support disabled', 'it is no cluster: give one address, or FLEET.primary for sentinels'],
  ['WRONGTYPE', 'the keys of this FLEET.name hold something else: choose another name'],
  ['user_script', 'the keys of this FLEET.name hold something else: choose another name'],
  ['SELF_SIGNED', 'its certificate is of an unknown authority: name its file in FLEET.ca'],
  ['UNABLE_TO_', 'its certificate is of an unknown authority: name its file in FLEET.ca'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another name: use that name in the address'],
  ['CERT_HAS_EXPIRED', 'its certificate has expired: renew it'],
  ['ERR_SSL_', 'it does not speak TLS there: use redis://, or its port for TLS'],
  ['EPROTO', 'it does not speak TLS there: use redis://, or its port for TLS'],
  ['Connection timeout', 'it does not answer: look at its load, the network, and whether its port has TLS'],
  ['Socket closed', 'it closes connections: look at its log, and whether it wants TLS (rediss://)'],
  ['ECONNRESET', 'it closes connections: look at its log, and whether it wants TLS (rediss://)'],
  ['RESP', 'what answers is no Valkey or Redis: correct its address'],
];

/** Longest text of a store in a message, in characters. */
const maxSaid = 200;

/** The problem of a store, advice, and the store's own words. */
export const storeProblem = (error: unknown): string => {
  const code = errorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const said = readable(code === undefined || message.includes(code) ? message : `${message} ${code}`);
  const found = meanings.find(([sign]) => said.includes(sign));
  return found ? `${found[1]} (${said})` : said;
};

/** On one line: it may be anything. */
const readable = (text: string): string =>
  Array.from(text.slice(0, maxSaid), (character) => (character < ' ' || character === '\x7f' ? ' ' : character)).join(
    '',
  );
